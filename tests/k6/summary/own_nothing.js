// handleSummary() that returns nothing.
export default function () {}
export function handleSummary() {}
