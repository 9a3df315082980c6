import { defineConfig } from "vite";

// Built into the Python package, so that one wheel has both. Every name but that of the page itself has a
// digest in it, so that browsers may keep the files for good.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/livefacts/server/built_page",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // The notices of what is inside, shipped beside it.
    license: { fileName: "licences.md" },
    chunkSizeWarningLimit: 800,
    // The editor brings an old fallback for browsers without JSON, which is never reached.
    rolldownOptions: { checks: { eval: false } },
  },
  server: {
    proxy: Object.fromEntries(
      ["sparql", "stats", "metrics", "changes", "watch", "violations", "streams", "rules", "explain", "preview", "log", "undo"].map(
        (path) => [`/${path}`, "http://127.0.0.1:7878"],
      ),
    ),
  },
});
