//! The tokens of MLIR's text form, as far as signatures need them.

/// One token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A bare word or number: `func.func`, `tensor`, `8x128xf32`, `16`.
    Word(&'a str),
    /// `@name`, without the sign and without quotes.
    Symbol(&'a str),
    /// `%name`, `#name` or `!name`, with the sign.
    Sigil(&'a str),
    /// `"text"`, without quotes and with escapes as they stand.
    Text(&'a str),
    /// `->`.
    Arrow,
    /// Any other character.
    Punct(char),
    /// The end of the text.
    End,
}

impl Token<'_> {
    /// The token as an error shows it.
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Word(word) | Token::Sigil(word) => format!("`{}`", start_of(word)),
            Token::Symbol(name) => format!("`@{}`", start_of(name)),
            Token::Text(text) => format!("\"{}\"", start_of(text)),
            Token::Arrow => "`->`".to_owned(),
            Token::Punct(punct) => format!("`{punct}`"),
            Token::End => "the end of the text".to_owned(),
        }
    }
}

/// The first characters of something long.
fn start_of(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Reads tokens from a text. Never fails: what is no token of MLIR comes out as punctuation and is refused by
/// the parser.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    /// Where the next token is looked for.
    at: usize,
    /// Where the last token began.
    last: usize,
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning of `text`.
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0, last: 0 }
    }

    /// Line and column, from 1, of the last token.
    pub(super) fn position(&self) -> (usize, usize) {
        let before = &self.text[..self.last];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// Takes the next token.
    pub(super) fn next(&mut self) -> Token<'a> {
        self.skip_blanks();
        self.last = self.at;
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return Token::End };
        match first {
            '"' => Token::Text(self.quoted()),
            '@' if rest[1..].starts_with('"') => {
                self.at += 1;
                Token::Symbol(self.quoted())
            }
            '@' => Token::Symbol(&self.take_while(1, is_word)[1..]),
            '%' | '#' | '!' => Token::Sigil(self.take_while(1, is_word)),
            '-' if rest[1..].starts_with('>') => {
                self.at += 2;
                Token::Arrow
            }
            '-' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                Token::Word(self.take_while(1, is_word))
            }
            c if is_word(c) => Token::Word(self.take_while(0, is_word)),
            other => {
                self.at += other.len_utf8();
                Token::Punct(other)
            }
        }
    }

    /// The next token, left where it is.
    pub(super) fn peek(&self) -> Token<'a> {
        self.clone().next()
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    /// Takes `skip` bytes and then all characters that `accept`.
    fn take_while(&mut self, skip: usize, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest[skip..].find(|c| !accept(c)).map_or(rest.len(), |end| skip + end);
        self.at += length;
        &rest[..length]
    }

    /// Takes a quoted text; one that is not closed reaches to the end.
    fn quoted(&mut self) -> &'a str {
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let mut end = start;
        while end < bytes.len() && bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        // A backslash may be the last byte, or stand before a character of several bytes: then `end` is moved
        // onto a boundary.
        let mut end = end.min(bytes.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        self.at = (end + 1).min(bytes.len());
        &self.text[start.min(end)..end]
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.')
}
