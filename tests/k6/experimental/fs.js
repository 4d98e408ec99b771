// k6/experimental/fs: a file by parts.
import { open, SeekMode } from 'k6/experimental/fs';

const file = await open('./lib/rows.csv');

export default async function () {
  const stat = await file.stat();
  console.log(stat.name, stat.size);
  const buffer = new Uint8Array(4);
  console.log(await file.read(buffer), String.fromCharCode(...buffer));
  console.log(await file.seek(5, SeekMode.Start), await file.read(buffer), String.fromCharCode(...buffer));
  await file.seek(0, SeekMode.Current);
  console.log(await file.read(buffer), String.fromCharCode(...buffer));
}
