// TypeScript: enums and parameter properties.
enum Color {
  Red,
  Green = 5,
  Blue,
}

class Point {
  constructor(public x: number, private readonly y: number = 2) {}
  sum(): number {
    return this.x + this.y;
  }
}

export default function (): void {
  console.log(Color.Red, Color.Blue, Color[5], new Point(1).sum());
}
