// The current page, in the hash of the address, so that the server has a single page and links can be shared.

export type Route = { page: "runs"; first?: string } | { page: "start" } | { page: "agents" } | { page: "live"; id: string };

export function read(hash: string): Route {
  const [page = "", id = ""] = hash.replace(/^#\/?/, "").split("/");
  if (page === "start" || page === "agents") return { page };
  // Ids consist of digits and letters; anything else is invalid.
  if (page === "compare" && /^\w+$/.test(id)) return { page: "runs", first: id };
  if (page === "live" && id !== "") {
    try {
      return { page, id: decodeURIComponent(id) };
    } catch {
      // An incomplete escape; shows the list.
      return { page: "runs" };
    }
  }
  return { page: "runs" };
}

export const watch = (id: string) => `#/live/${encodeURIComponent(id)}`;

class Here {
  route = $state<Route>(read(location.hash));

  begin(): () => void {
    const moved = () => (this.route = read(location.hash));
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }
}

export const here = new Here();
