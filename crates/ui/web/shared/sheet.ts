// Rules of the script's own, as constructed style sheets: a `<style>` element would need a hash in the page's policy.

const adopted = new Set<string>();

/** Adds the rules once. */
export function adopt(css: string): void {
  if (adopted.has(css)) return;
  adopted.add(css);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  // In front of what else was adopted, and always behind the page's own sheet: so these rules name their own classes.
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
