// Only API routes are served. bcrypt is native code and prom-client keeps one registry for the whole process, so both
// are loaded from node_modules as they are instead of being bundled into each route.
export default {
  distDir: "target",
  poweredByHeader: false,
  serverExternalPackages: ["bcrypt", "pg", "prom-client"],
};
