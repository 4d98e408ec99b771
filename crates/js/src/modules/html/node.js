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

  function made(json, parent, at) {
    if (typeof json === 'string') return { type: 3, name: '#text', text: json, children: [], parent, at };
    if (json.m !== undefined) return { type: 8, name: '#comment', text: json.m, children: [], parent, at };
    const node = { type: 1, name: json.n, attributes: new Map(), children: [], parent, at };
    for (let i = 0; i < json.a.length; i += 2) node.attributes.set(json.a[i], json.a[i + 1]);
    node.children = json.c.map((child, place) => made(child, node, place));
    return node;
  }

  exports.parse = (text) => {
    const root = { type: 9, name: '#document', children: [], attributes: new Map(), parent: null, at: 0 };
    root.children = JSON.parse(native.htmlTree(text)).map((child, place) => made(child, root, place));
    return root;
  };

  exports.text = function text(node) {
    if (node.type === 3) return node.text;
    return node.type === 8 ? '' : node.children.map(text).join('');
  };

  const SIGNS = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };
  const escaped = (text) => text.replace(/[&<>"']/g, (sign) => SIGNS[sign]);

  exports.outer = function outer(node) {
    if (node.type === 8) return `<!--${node.text}-->`;
    if (node.type === 3) return RAW.has(node.parent?.name) ? node.text : escaped(node.text);
    if (node.type === 9) return exports.inner(node);
    const attributes = [...node.attributes].map(([name, value]) => ` ${name}="${escaped(value)}"`).join('');
    if (VOID.has(node.name)) return `<${node.name}${attributes}/>`;
    return `<${node.name}${attributes}>${exports.inner(node)}</${node.name}>`;
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
  exports.walk = function* walk(node) {
    for (const child of node.children) {
      if (child.type !== 1) continue;
      yield child;
      yield* walk(child);
    }
  };
  exports.contains = (outer, inner) => {
    for (let of = inner.parent; of !== null; of = of.parent) if (of === outer) return true;
    return false;
  };
})
