import type { ReactElement } from "react";
import { scriptsApi } from "../../../../api/delivery/scripts.ts";
import { useRead } from "../../../api.ts";
import { Dialog, ShowButton } from "../../../parts/dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { ScrollingText } from "../../../parts/scrolling-text.tsx";

interface OutputButtonProps {
  /** The script, or the host if it is one of many. */
  readonly name: string;
  readonly executionId: string;
}

export const OutputButton = (props: OutputButtonProps): ReactElement => (
  <ShowButton label={`Show the output of ${props.name}`}>
    {(close) => <OutputDialog {...props} onClose={close} />}
  </ShowButton>
);

interface OutputDialogProps extends OutputButtonProps {
  readonly onClose: () => void;
}

/** What a run of a script on a host has written; while the host has not answered, that it is waited for. */
export function OutputDialog({ name, executionId, onClose }: OutputDialogProps): ReactElement {
  const reply = useRead(scriptsApi.result, { params: { execution_id: executionId } }, { isLive: true });
  return (
    <Dialog title={`Output of ${name}`} isWide onClose={onClose}>
      <Read from={reply} what="output">
        {({ exit_code, runtime, message, output, hostname }) => (
          <>
            <div role="status">
              <Facts
                facts={[
                  ["Host", hostname],
                  ["Exit code", exit_code === null ? "waiting for the host" : String(exit_code)],
                  ["Run time", exit_code === null ? "" : `${runtime} s`],
                  ["Message", message],
                ]}
              />
            </div>
            {output !== "" && <ScrollingText text={output} />}
            {output === "" && exit_code !== null && <p className="quiet">The script has written nothing.</p>}
          </>
        )}
      </Read>
    </Dialog>
  );
}
