(function (exports, require, native) {
  'use strict';
  // Nodes: elements have `name`, `attributes` (a Map), and `children`; texts and comments have `text`.
  const VOID = new Set([
    'area',
    'base',
    'br',
    'col',
    'embed',
    'hr',
    'img',
    'input',
    'link',
    'meta',
    'param',
    'source',
    'track',
    'wbr',
  ]);
  const RAW = new Set(['script', 'style', 'xmp', 'iframe', 'noembed', 'noframes', 'plaintext', 'noscript']);

  // Documents may nest deeper than functions can call each other on the stack of a virtual user, so nothing here recurs.
  function made(json, parent, at) {
    if (typeof json === 'string') return { type: 3, name: '#text', text: json, children: [], parent, at };
    if (json.m !== undefined) return { type: 8, name: '#comment', text: json.m, children: [], parent, at };
    const node = { type: 1, name: json.n, attributes: new Map(), children: [], parent, at };
    for (let i = 0; i < json.a.length; i += 2) node.attributes.set(json.a[i], json.a[i + 1]);
    return node;
  }

  exports.parse = (text) => {
    const root = { type: 9, name: '#document', children: [], attributes: new Map(), parent: null, at: 0 };
    const open = [[root, JSON.parse(native.htmlTree(text))]];
    while (open.length > 0) {
      const [parent, list] = open.pop();
      list.forEach((json, at) => {
        const node = made(json, parent, at);
        parent.children.push(node);
        if (node.type === 1 && json.c.length > 0) open.push([node, json.c]);
      });
    }
    return root;
  };

  // Returns the node after another one in the order of the document, within `root`.
  function following(node, root) {
    if (node.children.length > 0) return node.children[0];
    let of = node;
    while (of !== root) {
      const next = of.parent?.children[of.at + 1];
      if (next !== undefined) return next;
      of = of.parent;
    }
    return undefined;
  }

  exports.text = (node) => {
    if (node.type === 3) return node.text;
    const all = [];
    for (let of = node; of !== undefined; of = following(of, node)) if (of.type === 3) all.push(of.text);
    return all.join('');
  };

  const SIGNS = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };
  const escaped = (text) => text.replace(/[&<>"']/g, (sign) => SIGNS[sign]);

  function begin(node) {
    if (node.type === 8) return `<!--${node.text}-->`;
    if (node.type === 3) return RAW.has(node.parent?.name) ? node.text : escaped(node.text);
    if (node.type === 9) return '';
    const attributes = [...node.attributes].map(([name, value]) => ` ${name}="${escaped(value)}"`).join('');
    return `<${node.name}${attributes}${VOID.has(node.name) ? '/' : ''}>`;
  }
  const end = (node) => (node.type === 1 && !VOID.has(node.name) ? `</${node.name}>` : '');

  exports.outer = (root) => {
    const all = [];
    for (let node = root; ;) {
      all.push(begin(node));
      if (node.children.length > 0) {
        node = node.children[0];
        continue;
      }
      for (;;) {
        all.push(end(node));
        if (node === root) return all.join('');
        const next = node.parent.children[node.at + 1];
        if (next !== undefined) {
          node = next;
          break;
        }
        node = node.parent;
      }
    }
  };
  exports.inner = (node) => node.children.map(exports.outer).join('');

  const isElement = (node) => node.type === 1;
  exports.elements = (node) => node.children.filter(isElement);
  exports.siblings = (node) => (node.parent === null ? [] : node.parent.children.filter(isElement));
  exports.after = (node) => siblingsFrom(node, node.at + 1);
  exports.before = (node) =>
    node.parent === null ? [] : node.parent.children.slice(0, node.at).filter(isElement).reverse();
  function siblingsFrom(node, at) {
    return node.parent === null ? [] : node.parent.children.slice(at).filter(isElement);
  }
  exports.parents = (node) => {
    const all = [];
    for (let of = node.parent; of !== null && of.type === 1; of = of.parent) all.push(of);
    return all;
  };
  exports.root = (node) => {
    let of = node;
    while (of.parent !== null) of = of.parent;
    return of;
  };
  // Returns the elements within a node, in the order of the document.
  exports.walk = (root) => {
    const all = [];
    for (let node = following(root, root); node !== undefined; node = following(node, root)) {
      if (node.type === 1) all.push(node);
    }
    return all;
  };
  exports.contains = (outer, inner) => {
    for (let of = inner.parent; of !== null; of = of.parent) if (of === outer) return true;
    return false;
  };
})
