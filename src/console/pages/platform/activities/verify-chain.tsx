import { type ReactElement, useState } from "react";
import { activitiesApi, type Verification } from "../../../../api/platform/activities.ts";
import { client, request } from "../../../api.ts";
import { notifyFailed } from "../../../frame/notices.tsx";
import { counted } from "../../../parts/counted.ts";
import { Dialog } from "../../../parts/dialog.tsx";

const BATCH_SIZE = 50_000;

/** Checks that no activity was changed or removed, part by part, and says how far it is. */
export function VerifyChain(): ReactElement {
  const [state, setState] = useState<{ readonly checked: number; readonly result: Verification | null } | null>(null);
  const verify = async () => {
    let checked = 0;
    setState({ checked, result: null });
    try {
      for (let from: number | null = null; ; ) {
        const query: { limit: number; from?: number } = { limit: BATCH_SIZE, ...(from === null ? {} : { from }) };
        const result = await request(() => client.call(activitiesApi.verify, { query }));
        checked += result.checked;
        const isDone = result.next === null || !result.ok;
        setState({ checked, result: isDone ? result : null });
        if (isDone) return;
        from = result.next;
      }
    } catch (error) {
      setState(null);
      notifyFailed(error);
    }
  };
  return (
    <>
      <button type="button" className="plain" onClick={() => void verify()}>
        Verify
      </button>
      {state !== null && (
        <Dialog title="Verify activities" onClose={() => setState(null)}>
          <p role="status">
            {state.result === null
              ? `${counted(state.checked, "entry", "entries")} checked so far`
              : state.result.ok
                ? `${counted(state.checked, "entry", "entries")} checked: no activity was changed, removed or moved.`
                : `There is a problem: ${state.result.problem?.detail ?? "the chain of activities is broken"}`}
          </p>
        </Dialog>
      )}
    </>
  );
}
