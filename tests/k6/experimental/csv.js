// k6/experimental/csv: rows of a file.
import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';

const file = await open('./lib/rows.csv');
const rows = await csv.parse(file, { delimiter: ',', skipFirstLine: true });

export default async function () {
  console.log(rows.length, rows[0].join('|'), rows[1].join('|'));
}
