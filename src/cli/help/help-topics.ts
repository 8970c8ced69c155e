// The topics of `svc help TOPIC`. Manual pages and completion use them too.
import { exitCodes } from "../exit-codes.ts";

export interface HelpTopic {
  readonly summary: string;
  /** Paragraphs before the rows. */
  readonly about: readonly string[];
  readonly rows: readonly (readonly [name: string, text: string])[];
}

const environment: HelpTopic["rows"] = [
  ["SVC_SERVER_URL", "URL of the server: --server-url."],
  ["SVC_CONTEXT", "Name of the saved sign-in to use: --context."],
  ["SVC_API_TOKEN", "API token to sign in with; takes precedence over the token of the context."],
  ["SVC_API_TOKEN_FILE", "File that contains the API token."],
  ["SVC_CA_FILE", "File with certificates to trust (PEM): --ca-file."],
  ["SVC_INSECURE", "1: do not check the server's certificate: --insecure."],
  ["SVC_REQUEST_TIMEOUT", "Time to wait for a reply, such as 5s or 10m (30s): --request-timeout."],
  ["SVC_GITOPS_OVERRIDE", "Reason to change, in GitOps mode, what the files determine; it is recorded."],
  ["SVC_OUTPUT", "Output format: --output."],
  ["SVC_NO_INPUT", "If set to anything, commands never ask: --no-input. The variable CI has the same effect."],
  ["NO_COLOR", "If set to anything, no colours: --no-color. TERM=dumb and CI have the same effect."],
  ["SVC_CONFIG_DIR", "Folder for contexts and tokens, instead of the folder svc in XDG_CONFIG_HOME (~/.config)."],
  ["XDG_CACHE_HOME", "Folder in which completion caches names for up to a minute, in a subfolder svc (~/.cache)."],
  ["SVC_KEYRING", "off: store tokens in a file that only you can read, instead of the system's keyring."],
  ["SVC_EMAIL", "Email address for `login`."],
  ["SVC_PASSWORD", "Password for `login` and `setup`."],
  ["SVC_USER_PASSWORD", "Password for the user that `users create` or `invites accept` creates."],
  ["SVC_SETUP_TOKEN", "Setup token for `setup`; the server prints it at its first start."],
  ["SVC_INVITE_TOKEN", "Token of an invite, for `invites show` and `invites accept`."],
  ["SVC_WEBHOOK_SECRET", "Signing secret of webhooks, for `webhooks listen`."],
  ["SVC_ENROLL_SECRET", "Enroll secret for `agent simulate`."],
  ["SVC_APPLY_FILE", "Files for `plan`, `apply` and `drift`, separated as in PATH."],
  ["SVC_APPLY_DRY_RUN", "true: `apply` checks everything and changes nothing."],
  ["SVC_APPLY_DELETE_OTHER_TEAMS", "true: `apply` deletes teams that are in no file."],
  [
    "SVC_APPLY_ALLOW_UNKNOWN_HOSTS",
    "true: hosts of labels that the server does not have are warnings instead of errors.",
  ],
  ["SVC_APPLY_ENV_ALLOW", "Variables of the environment that files may use, separated by commas."],
  ["SVC_APPLY_ENV_ALLOW_FILE", "File with the names of the variables that files may use, one per line."],
  ["SVC_APPLY_ALLOW_UNKNOWN_KEYS", "true: unknown nested keys in files are warnings instead of errors."],
  ["SVC_SECRET_*", "Values of the custom variables that scripts and profiles of `plan` and `apply` name."],
  ["SVC_DATA_DIR", "Data directory for `serve` and `db`: --data-dir."],
  ["SVC_DATABASE_URL", "Postgres database for `serve` and `db`: --database-url."],
  ["SVC_BLOBS_URL", "Bucket of uploaded files for `serve` and `db`: --blobs-url."],
  ["SVC_LICENSE_PUBLIC_KEY", "Public key (PEM) to verify license keys with, for `license verify` and `serve`."],
  ["SVC_LICENSE_PRIVATE_KEY", "Private key (PEM) to sign license keys with, for `license issue`."],
  ["SVC_CONFIG", "File with settings for `serve`. Each setting also has its own variable: see `svc serve --help`."],
  ["EDITOR, VISUAL", "Editor for `config edit`."],
  ["DEBUG", "svc*: print the stack trace of errors."],
];

/** Flag groups that many commands share: help describes them once. */
export const sharedFlagGroups: readonly string[] = ["OUTPUT", "SERVER", "GLOBAL"];

export const helpTopics: Readonly<Record<string, HelpTopic>> = {
  "exit-codes": {
    summary: "Meaning of the exit codes.",
    about: ["Every command ends with one of these codes."],
    rows: Object.values(exitCodes).map(({ code, meaning }) => [String(code), meaning]),
  },
  environment: {
    summary: "Environment variables that commands read.",
    about: [
      "If a value is given in several ways, a flag wins over the environment, the environment over the context, and the context over the default.",
    ],
    rows: environment,
  },
  flags: {
    summary: "Flags that most commands have.",
    about: ["A flag wins over the environment, the environment over the context, the context over the default."],
    rows: [
      ["-o, --output", "Output format; --json is -o json: `svc help formatting`."],
      ["--fields, --jq", "Select fields or parts of the JSON: `svc help formatting`."],
      ["--no-header", "No header line in tables and CSV."],
      ["--server-url URL", "URL of the server. Env: SVC_SERVER_URL."],
      ["--context NAME", "Saved server and sign-in to use. Env: SVC_CONTEXT."],
      ["--ca-file FILE", "File with certificates to trust (PEM). Env: SVC_CA_FILE."],
      ["--[no-]insecure", "Do not check the server's certificate. Env: SVC_INSECURE."],
      ["--request-timeout TIME", "Time to wait for a reply, such as 5s or 10m (30s). Env: SVC_REQUEST_TIMEOUT."],
      ["--no-input", "Never ask; if something is missing, fail and name it. Env: SVC_NO_INPUT."],
      ["--no-color", "No colours. Env: NO_COLOR."],
    ],
  },
  formatting: {
    summary: "Output formats, and how to select fields and rows.",
    about: [
      "Commands write data to stdout, and messages to stderr. Lists in json, ndjson and csv are written row by row as they arrive; a table " +
        "and yaml are written when the last row has arrived.",
    ],
    rows: [
      [
        "-o table",
        "For people, the default. On a terminal times are like `3 minutes ago`, and columns that do not fit are made narrower, then left out; a note names them.",
      ],
      ["-o json, --json", "One document with every field, as in the API. Errors on stderr are JSON objects too."],
      ["-o ndjson", "One object per line."],
      ["-o yaml", "One document with every field."],
      [
        "-o csv",
        "With a header line (--no-header omits it). Cells that a spreadsheet would run as a formula begin with an apostrophe.",
      ],
      [
        "--fields a,b.c",
        "Only these fields, in this order. A nested field is named by its path, and the path is its key in the output. The error for an unknown field lists the fields that exist.",
      ],
      [
        "--jq EXPR",
        "Apply an expression in jq's language to the JSON, or with -o ndjson to each line. jq need not be installed. --fields is applied first. " +
          "Texts are printed without quotes, as by jq -r, with control characters escaped.",
      ],
      ["--limit N, --all", "The maximum number of rows in a list (100), or all rows."],
    ],
  },
};

/** Renders the topic with lines of at most `width` columns. */
export function topicText({ summary, about, rows }: HelpTopic, width = 100): string {
  const column = Math.max(...rows.map(([name]) => name.length)) + 2;
  const lines = rows.map(([name, text]) => {
    const [first = "", ...more] = wrap(text, width - column - 2);
    return [`  ${name.padEnd(column)}${first}`, ...more.map((line) => `  ${" ".repeat(column)}${line}`)].join("\n");
  });
  return [summary, ...about.map((text) => wrap(text, width).join("\n")), lines.join("\n")].join("\n\n");
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= Math.max(20, width))
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
