import { writeFileSync } from "node:fs";
import { settingsPage } from "../src/server/platform/core/settings/page.ts";

writeFileSync(new URL("../docs/settings.md", import.meta.url), settingsPage());
