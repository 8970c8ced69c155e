import type { ReactElement } from "react";
import {
  type SetSetupAssistant,
  type SetupAssistant,
  setupAssistantsApi,
} from "../../../../api/devices/setup-assistants.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, TextAreaField, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { Read } from "../../../parts/loading/read.tsx";

interface AssistantDialogProps {
  /** Null: the team has none yet; the form begins with the default one. */
  readonly assistant: SetupAssistant | null;
  readonly teamId: number;
  readonly onClose: () => void;
}

export function AssistantDialog(props: AssistantDialogProps): ReactElement {
  const { assistant, onClose } = props;
  const verb = assistant === null ? "Add" : "Edit";
  const reply = useRead(setupAssistantsApi.getDefault, {}, { enabled: assistant === null });
  return (
    <Dialog title={`${verb} setup assistant profile`} isWide onClose={onClose}>
      {assistant !== null ? (
        <AssistantForm {...props} name={assistant.name} profile={assistant.enrollment_profile} />
      ) : (
        <Read from={reply} what="default profile">
          {({ enrollment_profile }) => <AssistantForm {...props} name="setup.json" profile={enrollment_profile} />}
        </Read>
      )}
    </Dialog>
  );
}

interface AssistantFormProps extends AssistantDialogProps {
  readonly name: string;
  readonly profile: SetupAssistant["enrollment_profile"];
}

function AssistantForm({ teamId, name: initialName, profile, onClose }: AssistantFormProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: { name: initialName, enrollment_profile: JSON.stringify(profile, null, 2) },
    send: async ({ name, enrollment_profile }, options) => {
      const body = { team_id: teamId, name, enrollment_profile: profileIn(enrollment_profile) };
      return client.call(setupAssistantsApi.set, { body }, options);
    },
    onDone: () => {
      notifyDone("The setup assistant profile is saved.");
      onClose();
      void outdate(setupAssistantsApi.get);
    },
  });
  return (
    <Form form={form} submit="Save" onCancel={onClose}>
      <TextField form={form} name="name" label="Name" />
      <TextAreaField
        form={form}
        name="enrollment_profile"
        label="Profile"
        rows={16}
        hint="JSON, as the business portal defines it. The server fills in url, configuration_web_url and await_device_configured."
      />
    </Form>
  );
}

function profileIn(text: string): SetSetupAssistant["enrollment_profile"] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`The profile is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("The profile has to be a JSON object");
  return value as SetSetupAssistant["enrollment_profile"];
}
