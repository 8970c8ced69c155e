import { type ReactElement, useState } from "react";
import { shellOption, shellWord } from "../../text/shell.ts";
import { Dialog } from "./dialog.tsx";
import { ScrollingText } from "./scrolling-text.tsx";

export interface CommandForm {
  /** The line for a shell: `svc hosts list --status online`. */
  readonly command: string;
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly body?: unknown;
  /** The same as configuration in files, if there is one. */
  readonly yaml?: string;
}

/** The button that shows how to do the same in a terminal, by the API, or in files. */
export function AsCommand(form: CommandForm): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const { command, method, path, body, yaml } = form;
  const data = body === undefined ? "" : ` \\\n  --json ${shellWord(JSON.stringify(body))}`;
  const call = `curl -X ${method} -H "Authorization: Bearer $SVC_API_TOKEN"${data} \\\n  ${shellWord(location.origin + path)}`;
  return (
    <>
      <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        As command
      </button>
      {isOpen && (
        <Dialog title="As command" isWide onClose={() => setOpen(false)}>
          <Copyable label="Command line" text={command} />
          <Copyable label="API" text={call} />
          {yaml !== undefined && <Copyable label="Configuration in files" text={yaml} />}
        </Dialog>
      )}
    </>
  );
}

/** A text with a button that copies it. */
export function Copyable({ label, text }: { readonly label: string; readonly text: string }): ReactElement {
  const [isCopied, setCopied] = useState(false);
  return (
    <section aria-label={label} className="copyable">
      <div className="copyable-head">
        <h3>{label}</h3>
        <button
          type="button"
          className="plain small"
          aria-label={`Copy: ${label}`}
          onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
        >
          {isCopied ? "Copied" : "Copy"}
        </button>
      </div>
      <ScrollingText text={text} />
    </section>
  );
}

/** The line of a command with its flags. Flags are named as parameters unless `names` says otherwise. */
export function commandLine(
  command: string,
  parameters: Readonly<Record<string, string | number | boolean>>,
  names: Readonly<Record<string, string>> = {},
): string {
  const flags = Object.entries(parameters).map(([name, value]) => {
    const flag = names[name] ?? name.replaceAll("_", "-");
    return value === true || value === "true" ? `--${flag}` : shellOption(flag, String(value));
  });
  return ["svc", command, ...flags].join(" ");
}
