// open() reads text files in the init part.
const text = open('./lib/users.csv');
const json = JSON.parse(open('lib/users.json'));

export default function () {
  console.log(text.split('\n').length, JSON.stringify(json));
  try {
    open('./lib/users.csv');
    console.log('opened');
  } catch (e) {
    console.log('only in the init context');
  }
}
