import { type KeyboardEvent, type ReactElement, type ReactNode, useEffect, useId, useRef, useState } from "react";

export interface ComboboxOption {
  readonly id: string;
  readonly content: ReactNode;
}

interface ComboboxProps {
  readonly label: string;
  readonly listLabel: string;
  readonly value: string;
  readonly onChange: (value: string, cursor: number) => void;
  readonly options: readonly ComboboxOption[];
  readonly onSelect: (id: string) => void;
  /** Enter without a marked option. */
  readonly onEnter?: () => void;
  /** Whether the list is always there, as in a dialog, and its first option marked. */
  readonly isAlwaysOpen?: boolean;
  readonly placeholder?: string;
  readonly isInvalid?: boolean;
  readonly describedBy?: string;
  readonly className?: string;
  readonly inputRef?: React.RefObject<HTMLInputElement | null>;
  readonly onBlur?: () => void;
  readonly autoFocus?: boolean;
}

/** An input with a list of options (WAI-ARIA Authoring Practices, "Combobox"): arrows mark one, Enter selects it. */
export function Combobox(props: ComboboxProps): ReactElement {
  const { label, listLabel, value, options, isAlwaysOpen = false } = props;
  const id = useId();
  const [isFocused, setFocused] = useState(false);
  const [isDismissed, setDismissed] = useState(false);
  const [marked, setMarked] = useState(isAlwaysOpen ? 0 : -1);
  const ownRef = useRef<HTMLInputElement>(null);
  const input = props.inputRef ?? ownRef;
  const list = useRef<HTMLDivElement>(null);
  const isOpen = options.length > 0 && (isAlwaysOpen || (isFocused && !isDismissed));
  const at = Math.min(marked, options.length - 1);
  useEffect(() => {
    if (props.autoFocus) input.current?.focus();
  }, [props.autoFocus, input]);
  useEffect(() => {
    if (isOpen && at >= 0) list.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [isOpen, at]);
  const select = (index: number) => {
    const option = options[index];
    if (option === undefined) return;
    setMarked(isAlwaysOpen ? 0 : -1);
    props.onSelect(option.id);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setDismissed(false);
      const step = event.key === "ArrowDown" ? 1 : -1;
      setMarked(at < 0 && step < 0 ? options.length - 1 : (at + step + options.length) % Math.max(options.length, 1));
    } else if (event.key === "Enter") {
      if (isOpen && at >= 0) {
        event.preventDefault();
        select(at);
      } else props.onEnter?.();
    } else if (event.key === "Escape" && isOpen && !isAlwaysOpen) {
      event.preventDefault();
      event.stopPropagation();
      setDismissed(true);
      setMarked(-1);
    }
  };
  return (
    <div className={`combobox ${props.className ?? ""}`}>
      <input
        ref={input}
        type="text"
        data-focus={props.autoFocus === true ? "" : undefined}
        role="combobox"
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${id}-list` : undefined}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && at >= 0 ? `${id}-${at}` : undefined}
        aria-invalid={props.isInvalid === true ? true : undefined}
        aria-describedby={props.describedBy}
        autoComplete="off"
        spellCheck={false}
        placeholder={props.placeholder}
        value={value}
        onChange={({ target }) => {
          setDismissed(false);
          setMarked(isAlwaysOpen ? 0 : -1);
          props.onChange(target.value, target.selectionStart ?? target.value.length);
        }}
        onKeyDown={onKeyDown}
        onFocus={() => {
          setFocused(true);
          setDismissed(false);
        }}
        onBlur={() => {
          afterPress(() => setFocused(false));
          props.onBlur?.();
        }}
      />
      {isOpen && (
        <div ref={list} id={`${id}-list`} role="listbox" aria-label={listLabel} className="options">
          {options.map((option, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the focus and handles the keys
            <div
              key={option.id}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              tabIndex={-1}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => select(index)}
            >
              {option.content}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

let isPressed = false;
for (const [type, value] of [
  ["pointerdown", true],
  ["pointerup", false],
  ["pointercancel", false],
] as const)
  addEventListener(
    type,
    () => {
      isPressed = value;
    },
    { capture: true },
  );

/**
 * Runs it at once, or after the mouse button is released: a list that closed in between would move the button that is
 * being pressed away from under the pointer.
 */
function afterPress(run: () => void): void {
  if (!isPressed) {
    run();
    return;
  }
  const controller = new AbortController();
  const end = () => {
    controller.abort();
    setTimeout(run);
  };
  for (const type of ["pointerup", "pointercancel"]) addEventListener(type, end, { signal: controller.signal });
}
