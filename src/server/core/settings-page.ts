import { settingsTable } from "./settings-sources.ts";

/** docs/settings.md, made from the table of settings. */
export function settingsPage(): string {
  const rows = settingsTable().map(
    ({ flag, env, fallback, description, secret }) =>
      `| ${secret ? "(not by flag)" : `\`${flag}\``} | \`${env}\` | ${fallback === "" ? "" : `\`${fallback}\``} | ${description.replaceAll("|", "\\|")} |`,
  );
  return `# Settings

Every setting of \`svc serve\`. A flag wins over the environment, the environment over the file given with \`--config\`, the
file over the default. In the file (YAML) the key is the environment name without \`SVC_\`, in lower case; nested keys join with
\`_\`. Durations read \`500ms\`, \`25s\`, \`10m\`, \`24h\`, \`5d\`; bare numbers are seconds.

| Flag | Environment | Default | What |
|---|---|---|---|
${rows.join("\n")}

This page is made by \`npm run docs:settings\`.
`;
}
