// Style sheets as text: the bundler inlines them, and a constructed sheet needs no `unsafe-inline`.

declare module "*.css?inline" {
  const text: string;
  export default text;
}

declare module "*.css?raw" {
  const text: string;
  export default text;
}
