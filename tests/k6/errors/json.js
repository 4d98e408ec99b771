// A syntax error of JSON.parse.
// differs: exit iterations-throw
export default function () {
  JSON.parse('{not json');
}
