//! Reads XML.

use super::{Document, NODES_MAX, Name};
use roxmltree::{NodeType, ParsingOptions};
use xpath_eval::NodeKind;

/// Returns the tree of an XML text.
///
/// # Errors
/// Returns an error if the text is not well-formed, or has too many nodes.
pub(super) fn read(text: &str) -> Result<Document, &'static str> {
    // The library bounds the depth and the number of entity references.
    let options =
        ParsingOptions { allow_dtd: true, nodes_limit: NODES_MAX as u32, ..ParsingOptions::default() };
    let text = text.trim_start_matches('\u{feff}');
    let read = roxmltree::Document::parse_with_options(text, options).map_err(|error| match error {
        roxmltree::Error::NodesLimitReached => "the body has more than 1,000,000 nodes",
        _ => "the body is not well-formed XML",
    })?;
    let mut document = Document::new();
    // (number here, the library's node) of each open element.
    let mut open: Vec<(u32, roxmltree::Node<'_, '_>)> = Vec::new();
    for node in read.root().descendants().skip(1) {
        while let Some((number, element)) = open.last()
            && node.parent() != Some(*element)
        {
            document.close(*number);
            open.pop();
        }
        let parent = open.last().map_or(0, |(number, _)| *number);
        match node.node_type() {
            NodeType::Element => {
                let number = document.add(NodeKind::Element, parent, Some(name_of(node.tag_name())), "");
                for namespace in node.namespaces() {
                    if let Some(prefix) = namespace.name() {
                        document.declare(prefix, namespace.uri());
                    }
                }
                for attribute in node.attributes() {
                    let name = Name {
                        namespace: attribute.namespace().map(str::to_owned),
                        local: attribute.name().to_owned(),
                    };
                    document.add(NodeKind::Attribute, number, Some(Box::new(name)), attribute.value());
                }
                document.close(number);
                open.push((number, node));
            }
            NodeType::Text => {
                document.add(NodeKind::Text, parent, None, node.text().unwrap_or_default());
            }
            NodeType::Comment => {
                document.add(NodeKind::Comment, parent, None, node.text().unwrap_or_default());
            }
            NodeType::PI => {
                let (target, value) =
                    node.pi().map_or(("", ""), |pi| (pi.target, pi.value.unwrap_or_default()));
                let name = Name { namespace: None, local: target.to_owned() };
                document.add(NodeKind::ProcessingInstruction, parent, Some(Box::new(name)), value);
            }
            NodeType::Root => {}
        }
    }
    while let Some((number, _)) = open.pop() {
        document.close(number);
    }
    document.close(0);
    Ok(document)
}

fn name_of(name: roxmltree::ExpandedName<'_, '_>) -> Box<Name> {
    Box::new(Name { namespace: name.namespace().map(str::to_owned), local: name.name().to_owned() })
}
