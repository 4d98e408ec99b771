// Which page is shown: behind the hash, so that the server has one page to serve and links can be sent to others.

export type Route = { page: "runs"; first?: string } | { page: "start" } | { page: "live"; id: string };

export function read(hash: string): Route {
  const [page = "", id = ""] = hash.replace(/^#\/?/, "").split("/");
  if (page === "start") return { page };
  // Ids are digits and letters; whatever else was typed is none.
  if (page === "compare" && /^\w+$/.test(id)) return { page: "runs", first: id };
  if (page === "live" && id !== "") {
    try {
      return { page, id: decodeURIComponent(id) };
    } catch {
      // A half escape typed by hand: the list is the better answer than nothing.
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
