// The dialogs about profiles, in a file that is loaded when one is first opened.
import type { ReactElement } from "react";
import { AddProfileDialog } from "./add-profile-dialog.tsx";
import { DeleteProfileDialog } from "./delete-profile-dialog.tsx";
import type { OpenProfileDialog } from "./open-dialog.ts";
import { ProfileLabelsDialog } from "./profile-labels-dialog.tsx";
import { ReplaceProfileDialog } from "./replace-profile-dialog.tsx";
import { ResendDialog } from "./resend-dialog.tsx";

interface ProfileDialogsProps {
  readonly dialog: OpenProfileDialog;
  readonly onClose: (isDone: boolean) => void;
}

const dialogs = {
  delete: DeleteProfileDialog,
  labels: ProfileLabelsDialog,
  replace: ReplaceProfileDialog,
  resend: ResendDialog,
} as const;

export default function ProfileDialogs({ dialog, onClose }: ProfileDialogsProps): ReactElement {
  if (dialog.name === "add") return <AddProfileDialog teamId={dialog.teamId} onClose={onClose} />;
  const Content = dialogs[dialog.name];
  return <Content profile={dialog.profile} onClose={onClose} />;
}
