//! Nothing but the place of the examples; each is a program of its own beside this file.
