//! A short text of the shape of a serializable type, taken from its `Deserialize`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::de::DeserializeOwned;
use serde_reflection::{ContainerFormat, Format, Named, Registry, Tracer, TracerConfig, VariantFormat};

/// Longest schema that is kept; a longer one is cut and ends with its hash, so that it still differs when it should.
const SCHEMA_BYTES_MAX: usize = 512;

/// The shape of `T`, or its Rust name where the shape cannot be found out.
///
/// A type whose `Deserialize` refuses the probing values (a validated text, say) is compared by its Rust name only.
pub(super) fn of<T: DeserializeOwned>() -> String {
    // Probing runs the user's `Deserialize`, which may panic on values it does not expect.
    let probed = catch_unwind(AssertUnwindSafe(probe::<T>)).ok().flatten();
    cut(probed.unwrap_or_else(|| format!("opaque {}", std::any::type_name::<T>())))
}

fn probe<T: DeserializeOwned>() -> Option<String> {
    // Ones rather than zeros, so that the `NonZero` types can be probed too.
    let config = TracerConfig::default()
        .default_u8_value(1)
        .default_u16_value(1)
        .default_u32_value(1)
        .default_u64_value(1)
        .default_i8_value(1)
        .default_i16_value(1)
        .default_i32_value(1)
        .default_i64_value(1);
    let mut tracer = Tracer::new(config);
    let (root, _) = tracer.trace_simple_type::<T>().ok()?;
    let containers = tracer.registry().ok()?;
    let mut out = String::new();
    write_format(&root, &containers, &mut Vec::new(), &mut out);
    Some(out)
}

/// Containers are written out where they are first met and by name after that, which also ends recursion.
fn write_format(format: &Format, containers: &Registry, met: &mut Vec<String>, out: &mut String) {
    match format {
        Format::TypeName(name) => write_container(name, containers, met, out),
        Format::Option(inner) => write_wrapped("?", inner, containers, met, out),
        Format::Seq(inner) => write_wrapped("*", inner, containers, met, out),
        Format::Map { key, value } => {
            out.push('{');
            write_format(key, containers, met, out);
            out.push_str(": ");
            write_format(value, containers, met, out);
            out.push('}');
        }
        Format::Tuple(items) => write_tuple(items, containers, met, out),
        Format::TupleArray { content, size } => {
            out.push('[');
            write_format(content, containers, met, out);
            out.push_str(&format!("; {size}]"));
        }
        simple => out.push_str(&format!("{simple:?}").to_lowercase()),
    }
}

fn write_wrapped(mark: &str, inner: &Format, containers: &Registry, met: &mut Vec<String>, out: &mut String) {
    write_format(inner, containers, met, out);
    out.push_str(mark);
}

fn write_tuple(items: &[Format], containers: &Registry, met: &mut Vec<String>, out: &mut String) {
    out.push('(');
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write_format(item, containers, met, out);
    }
    out.push(')');
}

fn write_fields(fields: &[Named<Format>], containers: &Registry, met: &mut Vec<String>, out: &mut String) {
    out.push_str(" { ");
    for (i, field) in fields.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        out.push_str(&field.name);
        out.push_str(": ");
        write_format(&field.value, containers, met, out);
    }
    out.push_str(" }");
}

fn write_container(name: &str, containers: &Registry, met: &mut Vec<String>, out: &mut String) {
    out.push_str(name);
    if met.iter().any(|n| n == name) {
        return;
    }
    met.push(name.to_owned());
    match containers.get(name) {
        None | Some(ContainerFormat::UnitStruct) => {}
        Some(ContainerFormat::NewTypeStruct(inner)) => {
            write_tuple(std::slice::from_ref(inner), containers, met, out);
        }
        Some(ContainerFormat::TupleStruct(items)) => write_tuple(items, containers, met, out),
        Some(ContainerFormat::Struct(fields)) => write_fields(fields, containers, met, out),
        Some(ContainerFormat::Enum(variants)) => {
            for (i, variant) in variants.values().enumerate() {
                out.push_str(if i == 0 { " = " } else { " | " });
                out.push_str(&variant.name);
                match &variant.value {
                    VariantFormat::Unit | VariantFormat::Variable(_) => {}
                    VariantFormat::NewType(inner) => {
                        write_tuple(std::slice::from_ref(inner), containers, met, out);
                    }
                    VariantFormat::Tuple(items) => write_tuple(items, containers, met, out),
                    VariantFormat::Struct(fields) => write_fields(fields, containers, met, out),
                }
            }
        }
    }
}

fn cut(mut text: String) -> String {
    if text.len() <= SCHEMA_BYTES_MAX {
        return text;
    }
    let hash = super::hash(&text);
    let end = (0..=SCHEMA_BYTES_MAX - 24).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
    text.truncate(end);
    text.push_str(&format!("... #{hash:016x}"));
    text
}

#[cfg(test)]
mod tests;
