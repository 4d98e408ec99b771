// import() of a module.
// differs: console lenient
export default async function () {
  try {
    const { check } = await import('k6');
    console.log(typeof check);
  } catch (e) {
    console.log('exception');
  }
}
