// Several sources with names.
// flags: --secret-source=mock=name=first,a=1 --secret-source=mock=name=second,default,a=22
import secrets from 'k6/secrets';

export default async function () {
  const first = await secrets.source('first');
  console.log((await first.get('a')).length, (await secrets.get('a')).length);
}
