// k6/experimental/csv: a parser, row by row.
import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';

const file = await open('./lib/rows.csv');
const parser = new csv.Parser(file, { asObjects: true });

export default async function () {
  for (;;) {
    const { done, value } = await parser.next();
    if (done) break;
    console.log(value.name, value.text);
  }
}
