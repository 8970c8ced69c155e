import "./upload.css";
import type { ReactElement } from "react";
import { bytes } from "../bytes.ts";
import type { FileUpload } from "./use-upload.ts";

/** How much of a file has arrived, with a button that stops the upload. */
export function UploadProgress({ upload }: { readonly upload: FileUpload }): ReactElement | null {
  const { progress, cancel } = upload;
  if (progress === null) return null;
  const { name, size, received } = progress;
  const isComplete = received >= size;
  return (
    <div className="upload">
      <progress aria-label={`Upload of ${name}`} max={size} value={received} />
      <p>
        {isComplete
          ? "All of it has arrived. The server reads the file."
          : `${bytes(received)} of ${bytes(size)} (${Math.floor((100 * received) / size)} %)`}
      </p>
      {!isComplete && (
        <button type="button" className="plain small" onClick={cancel}>
          Cancel upload
        </button>
      )}
    </div>
  );
}
