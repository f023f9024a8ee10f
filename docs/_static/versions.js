// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Fills the list of versions in the sidebar. Each version is a directory of the site; versions.json beside them lists
// their names, the newest first: ["1.3", "1.2"]. A build with CUDA_CORE_DOCS_VERSIONS=1 has the list.
document.addEventListener("DOMContentLoaded", async () => {
  const select = document.getElementById("versions");
  if (!select) return; // the site has no versions
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href);
  const current = root.pathname.split("/").at(-2);
  const page = location.href.slice(root.href.length);
  let names = [];
  try {
    names = await (await fetch(new URL("../versions.json", root))).json();
  } catch {
    return;
  }
  for (const name of names) select.add(new Option(name, name, false, name === current));
  select.addEventListener("change", async () => {
    // A page can be missing from another version.
    const target = new URL(`../${select.value}/`, root);
    const found = await fetch(new URL(page, target), { method: "HEAD" });
    location.href = found.ok ? new URL(page, target) : target;
  });
  select.parentElement.hidden = false;
});
