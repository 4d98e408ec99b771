// import.meta.resolve() and open().
const text = open(import.meta.resolve('./lib/data.txt'));

export default function () {
  console.log(text.trim());
}
