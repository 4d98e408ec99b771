//! A page as a browser reads it: parsed by the algorithm of the HTML standard, with the few questions that tests ask.

use html5ever::parse_document;
use html5ever::tendril::TendrilSink;
use markup5ever_rcdom::{Handle, NodeData, RcDom};

/// A parsed page.
pub struct Dom {
    whole: RcDom,
}

impl Dom {
    pub fn parse(text: &str) -> Dom {
        let whole = parse_document(RcDom::default(), Default::default()).one(text);
        Dom { whole }
    }

    /// What the parser complained about.
    pub fn errors(&self) -> Vec<String> {
        self.whole.errors.borrow().iter().map(|error| error.to_string()).collect()
    }

    /// All elements, in the order of the document.
    pub fn elements(&self) -> Vec<Element> {
        let mut out = Vec::new();
        collect(&self.whole.document, &mut out);
        out
    }

    /// Those of this name.
    pub fn all(&self, name: &str) -> Vec<Element> {
        self.elements().into_iter().filter(|element| element.name() == name).collect()
    }

    pub fn by_id(&self, id: &str) -> Option<Element> {
        self.elements().into_iter().find(|element| element.attribute("id").as_deref() == Some(id))
    }
}

fn collect(node: &Handle, out: &mut Vec<Element>) {
    if let NodeData::Element { .. } = node.data {
        out.push(Element(node.clone()));
    }
    for child in node.children.borrow().iter() {
        collect(child, out);
    }
}

/// An element of a page.
#[derive(Clone)]
pub struct Element(Handle);

impl Element {
    pub fn name(&self) -> String {
        match &self.0.data {
            NodeData::Element { name, .. } => name.local.to_string(),
            _ => String::new(),
        }
    }

    /// Names and values.
    pub fn attributes(&self) -> Vec<(String, String)> {
        match &self.0.data {
            NodeData::Element { attrs, .. } => {
                attrs.borrow().iter().map(|a| (a.name.local.to_string(), a.value.to_string())).collect()
            }
            _ => Vec::new(),
        }
    }

    pub fn attribute(&self, name: &str) -> Option<String> {
        self.attributes().into_iter().find(|(its, _)| its == name).map(|(_, value)| value)
    }

    pub fn has_class(&self, class: &str) -> bool {
        self.attribute("class").is_some_and(|all| all.split_whitespace().any(|one| one == class))
    }

    /// All text in it.
    pub fn text(&self) -> String {
        let mut out = String::new();
        text(&self.0, &mut out);
        out
    }

    /// Elements below it, of this name.
    pub fn below(&self, name: &str) -> Vec<Element> {
        let mut out = Vec::new();
        collect(&self.0, &mut out);
        out.into_iter().skip(1).filter(|element| element.name() == name).collect()
    }
}

fn text(node: &Handle, out: &mut String) {
    if let NodeData::Text { contents } = &node.data {
        out.push_str(&contents.borrow());
    }
    for child in node.children.borrow().iter() {
        text(child, out);
    }
}
