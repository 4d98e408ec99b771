// Secrets of a file.
// flags: --secret-source=file=lib/secrets.txt
import secrets from 'k6/secrets';

export default async function () {
  console.log((await secrets.get('user')).length, (await secrets.get('password')).length);
}
