import type { ReactElement } from "react";
import { fullPath } from "../../api/paths.ts";
import { Copyable } from "../parts/as-command.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Facts } from "../parts/facts.tsx";
import type { RouteName } from "../routes.ts";
import { helpTexts } from "./help-texts.ts";
import { openShortcuts } from "./shortcuts.ts";

interface HelpDialogProps {
  readonly route: RouteName;
  readonly onClose: () => void;
}

export default function HelpDialog({ route, onClose }: HelpDialogProps): ReactElement {
  const { about, docs, command, operation, call } = helpTexts[route];
  const [method = "", path = ""] = call.split(" ");
  return (
    <Dialog title="Help" onClose={onClose}>
      <p>{about}</p>
      <Facts
        facts={[
          [
            "Documentation",
            <span key="docs">
              <code>{docs.file}</code>, “{docs.section}”, in the repository of the project
            </span>,
          ],
          [
            "API",
            <a key="api" href={`/api/docs#${operation}`} target="_blank" rel="noreferrer">
              {method} {fullPath({ path, root: false })}
            </a>,
          ],
        ]}
      />
      <Copyable label="Command line" text={`svc ${command} --help`} />
      <div className="dialog-buttons">
        <button
          type="button"
          className="plain"
          onClick={() => {
            onClose();
            openShortcuts();
          }}
        >
          List the keyboard shortcuts
        </button>
      </div>
    </Dialog>
  );
}
