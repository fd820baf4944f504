//! Where a text has the value that no network can be made of.

use std::net::SocketAddr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::{NetworkError, PathFault};
use super::source::Span;

/// The place of a value.
type Value<'a> = &'a Spanned<DeValue<'a>>;

/// The place of what an error is about; `None` if it is about the whole text.
pub(super) fn place(file: &DeTable<'_>, error: &NetworkError) -> Option<Span> {
    let value = match error {
        NetworkError::Link { name, .. } => links(file, name).next()?.get("name"),
        NetworkError::Loop { name, .. } => links(file, name)
            .find(|link| text(link.get("from")) == text(link.get("to")))?
            .get("to"),
        NetworkError::Twice { what: "link", name } => links(file, name).nth(1)?.get("name"),
        // The first one is that of the file, if the second one was added to it.
        NetworkError::Twice { name, .. } => with_address(file, &[("host", &["address"])])
            .filter(|(_, address)| address.to_string() == *name)
            .map(|(value, _)| value)
            .take(2)
            .last(),
        // In the order in which they are looked up.
        NetworkError::NotAttached { address } => with_address(
            file,
            &[
                ("rebind", &["inside"]),
                ("path", &["from", "to"]),
                ("traffic", &["from", "to"]),
            ],
        )
        .find(|(_, given)| given == address)
        .map(|(value, _)| value),
        NetworkError::BrokenPath { path, fault, .. } => {
            let links = tables(file, "path").nth(*path)?.get("links")?;
            let mut there = links.get_ref().as_array()?.iter();
            match fault {
                PathFault::Empty => Some(links),
                PathFault::At(name) => there.find(|link| text(Some(link)) == Some(name)),
                PathFault::Twice(name) => {
                    there.filter(|link| text(Some(link)) == Some(name)).nth(1)
                }
            }
        }
        _ => None,
    };
    value.map(Spanned::span)
}

/// The place of a key of a link, or of the link's name if it does not have it.
pub(super) fn key(file: &DeTable<'_>, link: &str, key: &str) -> Option<Span> {
    let link = links(file, link).next()?;
    link.get(key).or(link.get("name")).map(Spanned::span)
}

/// The tables of a kind, `[[kind]]`.
fn tables<'a>(file: &'a DeTable<'a>, kind: &str) -> impl Iterator<Item = &'a DeTable<'a>> {
    let array = file.get(kind).and_then(|value| value.get_ref().as_array());
    let tables = array.into_iter().flatten();
    tables.filter_map(|table| table.get_ref().as_table())
}

/// The links of a name.
fn links<'a>(file: &'a DeTable<'a>, name: &str) -> impl Iterator<Item = &'a DeTable<'a>> {
    tables(file, "link").filter(move |link| text(link.get("name")) == Some(name))
}

/// The addresses that these keys of these tables have.
fn with_address<'a>(
    file: &'a DeTable<'a>,
    keys: &[(&str, &[&str])],
) -> impl Iterator<Item = (Value<'a>, SocketAddr)> {
    keys.iter().flat_map(move |(kind, keys)| {
        let values = tables(file, kind).flat_map(|table| keys.iter().map(|key| table.get(*key)));
        values.filter_map(|value| Some((value?, text(value)?.parse().ok()?)))
    })
}

/// A value's text, if it is one.
fn text<'a>(value: Option<Value<'a>>) -> Option<&'a str> {
    value.and_then(|value| value.get_ref().as_str())
}
