import type { ReactElement } from "react";
import { type Command, commandsApi } from "../../../../api/devices/commands.ts";
import { useRead } from "../../../api.ts";
import { Dialog, ShowButton } from "../../../parts/dialog.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { ScrollingText } from "../../../parts/scrolling-text.tsx";

interface AnswerProps {
  readonly command: Command;
  /** What the button is called, in a list of several hosts: the host. */
  readonly of?: string;
}

/** A button that shows a command and what the host has answered. */
export const Answer = ({ command, of }: AnswerProps): ReactElement => (
  <ShowButton label={`Show the answer to ${command.request_type}${of === undefined ? "" : ` of ${of}`}`}>
    {(close) => <AnswerDialog command={command} onClose={close} />}
  </ShowButton>
);

function AnswerDialog({ command, onClose }: { readonly command: Command; readonly onClose: () => void }): ReactElement {
  const query = { command_uuid: command.command_uuid, host_identifier: command.host_uuid };
  const reply = useRead(commandsApi.results, { query });
  return (
    <Dialog title={command.request_type} isWide onClose={onClose}>
      <Read from={reply} what="answer">
        {({ results = [] }) =>
          results.length === 0 ? (
            <p>The host has not answered yet.</p>
          ) : (
            results.map(({ command_uuid, payload, result }) => (
              <div key={command_uuid}>
                <h3>Command</h3>
                <Text base64={payload} />
                <h3>Answer</h3>
                <Text base64={result} />
              </div>
            ))
          )
        }
      </Read>
    </Dialog>
  );
}

const Text = ({ base64 }: { readonly base64: string }): ReactElement => <ScrollingText text={decoded(base64)} />;

/** The text in base64; UTF-8. */
const decoded = (base64: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
