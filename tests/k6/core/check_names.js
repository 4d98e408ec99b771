// Names of checks that are unusual.
import { check, group } from 'k6';

export default function () {
  check(1, { '': () => true, 'ü 世界': () => true, 'with "quotes"': () => false, ' spaces ': () => true });
  group('ü group', () => check(1, { 'inner': () => true }));
  group('', () => check(1, { 'in a group without a name': () => true }));
}
