// What `svc help TOPIC` tells beside the commands; manual pages and completion are made of the same.
import { exitCodes } from "./exit-codes.ts";

export interface HelpTopic {
  readonly summary: string;
  /** Paragraphs before the rows. */
  readonly about: readonly string[];
  readonly rows: readonly (readonly [name: string, text: string])[];
}

const environment: HelpTopic["rows"] = [
  ["SVC_SERVER_URL", "Server to talk to: --server-url."],
  ["SVC_CONTEXT", "Saved server and sign-in to use: --context."],
  ["SVC_API_TOKEN", "Token to sign in with; wins over that of the context."],
  ["SVC_API_TOKEN_FILE", "File that holds it."],
  ["SVC_CA_FILE", "Authorities to trust (PEM): --ca-file."],
  ["SVC_INSECURE", "1: do not check the server's certificate: --insecure."],
  ["SVC_REQUEST_TIMEOUT", "Seconds to wait for an answer (30): --request-timeout."],
  ["SVC_OUTPUT", "Format of the output: --output."],
  ["SVC_NO_INPUT", "Anything: never ask: --no-input. CI does so too."],
  ["NO_COLOR", "Anything: no colour: --no-color. TERM=dumb and CI have no colour either."],
  ["SVC_CONFIG_DIR", "Folder for contexts and tokens, instead of svc below XDG_CONFIG_HOME (~/.config)."],
  ["XDG_CACHE_HOME", "Where names for completion are kept for a minute, below svc (~/.cache)."],
  ["SVC_KEYRING", "off: keep tokens in a file that only you can read, not in the keyring of the system."],
  ["SVC_EMAIL", "Email address of `login`."],
  ["SVC_PASSWORD", "Password of `login` and `setup`."],
  ["SVC_USER_PASSWORD", "Password of the user that `users create` or `invites accept` makes."],
  ["SVC_SETUP_TOKEN", "Token that a server prints at its first start, for `setup`."],
  ["SVC_INVITE_TOKEN", "Token of the invite, for `invites show` and `invites accept`."],
  ["SVC_WEBHOOK_SECRET", "Signing secret, for `webhooks listen`."],
  ["SVC_ENROLL_SECRET", "Enroll secret of `agent simulate`."],
  ["SVC_APPLY_FILE", "Files of `plan`, `apply` and `drift`, joined as in PATH."],
  ["SVC_APPLY_DRY_RUN", "true: `apply` writes nothing."],
  ["SVC_APPLY_DELETE_OTHER_TEAMS", "true: teams that no file names are deleted by `apply`."],
  ["SVC_APPLY_ALLOW_UNKNOWN_KEYS", "true: unknown nested keys in files are warnings."],
  ["SVC_DATA_DIR", "Data directory of `serve` and `db`: --data-dir."],
  ["SVC_DATABASE_URL", "Postgres of `serve` and `db`: --database-url."],
  ["SVC_LICENSE_PUBLIC_KEY", "Public key (PEM) to check license keys with, for `license verify` and `serve`."],
  ["SVC_CONFIG", "File with settings of `serve`. Each setting has a variable: `svc serve --help`."],
  ["EDITOR, VISUAL", "Editor of `config edit`."],
  ["DEBUG", "svc*: errors come with where they were thrown."],
];

export const helpTopics: Readonly<Record<string, HelpTopic>> = {
  "exit-codes": {
    summary: "What the exit codes mean.",
    about: ["The code with which every command ends."],
    rows: Object.values(exitCodes).map(({ code, meaning }) => [String(code), meaning]),
  },
  environment: {
    summary: "Variables of the environment that commands read.",
    about: ["A flag wins over the environment, the environment over the context, the context over the default."],
    rows: environment,
  },
  formatting: {
    summary: "Formats of the output, fields, selections.",
    about: [
      "Data goes to stdout and all else to stderr, so stdout parses whatever is told beside it. Lists as json, ndjson and csv are written " +
        "as they come, however long; a table and yaml wait for the last row.",
    ],
    rows: [
      ["-o table", "For people: cut to the terminal's width, times as `3 minutes ago` on a terminal. The default."],
      ["-o json, --json", "One document, every field, as the API gives it. Errors are an object on stderr too."],
      ["-o ndjson", "One object on a line."],
      ["-o yaml", "One document, every field."],
      [
        "-o csv",
        "With a header (--no-header leaves it out); cells that a spreadsheet would run begin with an apostrophe.",
      ],
      [
        "--fields a,b.c",
        "Only these, in this order, under flat keys: `b.c` stays one key. An unknown one names those that exist.",
      ],
      [
        "--jq EXPR",
        "What the expression, in jq's language (no jq has to be installed), makes of the json; of ndjson, of each line. Comes after --fields. " +
          "Texts come without quotes, as by jq -r; control characters in them are escaped.",
      ],
      ["--limit N, --all", "So many rows of a list (100), or every one."],
    ],
  },
};

/** The topic as text, `width` columns wide. */
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
