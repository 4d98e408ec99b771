// TypeScript: the place of an exception is that of the source.
// differs: exit iterations-throw
interface Nothing {
  a: string;
  b: number;
}

export default function (): void {
  const value: Nothing | null = null;
  throw new Error('typed');
}
