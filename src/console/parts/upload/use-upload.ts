// Uploads of large files: with their progress, and a way to stop them.
import { useCallback, useEffect, useRef, useState } from "react";
import type { UploadSource } from "../../../api/bodies.ts";
import { uploadText } from "../../../api/platform/upload-text.ts";
import { uploadsApi } from "../../../api/platform/uploads.ts";
import { sentFile } from "../../../client/browser-client.ts";
import { uploadFile } from "../../../client/browser-uploads.ts";
import { ApiCallError } from "../../../client/errors.ts";
import { client } from "../../api.ts";
import { session } from "../../session.ts";

const FORBIDDEN = 403;

export interface UploadProgress {
  readonly name: string;
  readonly size: number;
  /** Bytes that have arrived. */
  readonly received: number;
}

export interface FileUpload {
  /** Null: nothing is being uploaded. */
  readonly progress: UploadProgress | null;
  /** Uploads the file, and sends the request in which it stands; the progress is shown until that is answered. */
  readonly send: <Reply>(file: File, request: RequestWithFile<Reply>) => Promise<Reply>;
  readonly cancel: () => void;
}

type RequestWithFile<Reply> = (sent: UploadSource, options: { readonly dryRun?: boolean }) => Promise<Reply>;

class UploadCancelled extends Error {
  constructor() {
    super("The upload is cancelled.");
    this.name = "UploadCancelled";
  }
}

/** What was uploaded when the dialog is closed, or when the user cancels, is removed. */
export function useUpload(): FileUpload {
  const [progress, setProgress] = useState<UploadProgress | null>(null);
  const running = useRef<AbortController | null>(null);
  const cancel = useCallback(() => running.current?.abort(new UploadCancelled()), []);
  useEffect(() => cancel, [cancel]);
  useLeaveWarning(progress !== null);
  const send: FileUpload["send"] = async (file, request) => {
    // A session has at least one byte; the server says what is wrong with an empty file.
    if (file.size === 0) return request(sentFile(file), {});
    await refuseEarly(request);
    const { name, size } = file;
    const controller = new AbortController();
    running.current = controller;
    let id: number | null = null;
    setProgress({ name, size, received: 0 });
    try {
      const upload = await uploadFile(client, file, {
        signal: controller.signal,
        onProgress: ({ id: session, received }) => {
          id = session;
          setProgress({ name, size, received });
        },
      });
      running.current = null;
      return await request(sentFile(uploadText(upload.id)), {});
    } catch (error) {
      if (controller.signal.aborted && id !== null) void removeSession(id);
      throw error;
    } finally {
      running.current = null;
      setProgress(null);
    }
  };
  return { progress, send, cancel };
}

/** In GitOps mode, the server refuses changes before it reads the file: nobody should upload it for that. */
async function refuseEarly(request: RequestWithFile<unknown>): Promise<void> {
  if (!session.data.gitops.gitops_mode_enabled) return;
  try {
    await request(sentFile(""), { dryRun: true });
  } catch (error) {
    if (error instanceof ApiCallError && error.status === FORBIDDEN) throw error;
  }
}

/** A session that could not be removed expires. */
const removeSession = (id: number): Promise<unknown> =>
  client.call(uploadsApi.remove, { params: { id } }).catch(() => undefined);

function useLeaveWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isOn]);
}
