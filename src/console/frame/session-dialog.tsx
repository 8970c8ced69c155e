import { useQueryClient } from "@tanstack/react-query";
import { type ReactElement, useCallback, useEffect, useState } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { session, useSessionState } from "../session.ts";

/** Asks the user to sign in again when the session is over. The page behind keeps what was typed. */
export function SessionDialog(): ReactElement | null {
  const state = useSessionState();
  const queries = useQueryClient();
  const [stillOver, setStillOver] = useState(false);
  const renew = useCallback(
    async (says: boolean) => {
      const isSignedIn = await session.renew().catch(() => false);
      if (isSignedIn) await queries.invalidateQueries();
      setStillOver(says && !isSignedIn);
    },
    [queries],
  );
  const isOver = state.kind === "over";
  useEffect(() => {
    if (!isOver) return;
    // The session may have been replaced in another tab before this page noticed.
    void renew(false);
    const onReturn = () => void renew(false);
    addEventListener("focus", onReturn);
    return () => removeEventListener("focus", onReturn);
  }, [isOver, renew]);
  if (!isOver) return null;
  return (
    <Dialog title="Sign in again" onClose={null}>
      <p>Your session is over. Sign in again in another tab, then continue here: nothing on this page is lost.</p>
      {stillOver && (
        <p role="alert" className="wrong">
          This browser is not signed in yet.
        </p>
      )}
      <div className="dialog-buttons">
        <button type="button" className="plain" onClick={() => void renew(true)}>
          Continue
        </button>
        <a className="button" href="/login" target="_blank" rel="noreferrer">
          Sign in
        </a>
      </div>
    </Dialog>
  );
}
