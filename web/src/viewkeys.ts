// The keys of a view, as long as it is shown.
import { useLayoutEffect } from "preact/hooks";
import { viewKeys } from "./state";

export function useKeys(keys: Record<string, (event: KeyboardEvent) => void>): void {
  useLayoutEffect(() => {
    viewKeys.value = keys;
    return () => (viewKeys.value = {});
  });
}
