import { type ComponentType, type ReactNode, useEffect, useState } from "react";
import { notifyFailed } from "../../frame/notices.tsx";

interface LoadProps {
  /** What is shown until the script is there. */
  readonly fallback?: ReactNode;
  /** The script could not be loaded. A notice says so; the rest of the page is not affected. */
  readonly onFailed?: () => void;
}

/** A part of a page whose script is loaded when it is first shown. */
export function lazyPart<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
): (props: Props & LoadProps) => ReactNode {
  let loaded: ComponentType<Props> | undefined;
  return function LazyPart(props) {
    const [Part, setPart] = useState(() => loaded);
    const { onFailed } = props;
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (module) => {
          loaded = module.default;
          setPart(() => loaded);
        },
        () => {
          notifyFailed(new Error("a part of the page could not be loaded: the server does not respond"));
          onFailed?.();
        },
      );
    }, [onFailed]);
    return Part === undefined ? props.fallback : <Part {...props} />;
  };
}
