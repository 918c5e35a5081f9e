import { durationMs } from './compose.mjs';

/** The health check of a container by the engine's rules: in the start period failures do not count. */
export class Health {
  /** `none`, `starting`, `healthy`, `unhealthy` */
  state = 'none';
  /** What the last check printed. */
  output = '';
  #check;
  #exec;

  /** @param exec runs a command inside of the container within so many ms */
  constructor(check, exec) {
    this.#check = check?.disable === true ? undefined : check;
    this.#exec = exec;
  }

  /** Starts to check. Returns a function that ends it. */
  begin() {
    const check = this.#check;
    if (check === undefined) return async () => undefined;
    const { test, interval = '30s', timeout = '30s', retries = 3, start_period: period = '0s' } = check;
    const [kind, ...args] = test;
    const command = kind === 'CMD-SHELL' ? ['/bin/sh', '-c', ...args] : args;
    const startMs = durationMs(period);
    const begun = Date.now();
    let failures = 0;
    let ended = false;
    let wake = () => undefined;
    this.state = 'starting';
    const loop = async () => {
      for (;;) {
        const starting = this.state === 'starting' && Date.now() - begun < startMs;
        await new Promise((resolve) => {
          const timer = setTimeout(resolve, durationMs(starting ? (check.start_interval ?? '5s') : interval));
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        if (ended) return;
        const { code, output } = await this.#exec(command, durationMs(timeout)).catch((error) => ({
          output: String(error),
        }));
        if (ended) return;
        this.output = output;
        if (code === 0) {
          failures = 0;
          this.state = 'healthy';
          continue;
        }
        if (this.state === 'starting' && Date.now() - begun < startMs) continue;
        failures += 1;
        if (failures >= retries) this.state = 'unhealthy';
      }
    };
    const running = loop();
    return async () => {
      ended = true;
      this.state = 'none';
      wake();
      await running;
    };
  }
}
