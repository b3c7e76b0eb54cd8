import Foundation
import OperatingSystem
import TestSupport

/// A benchmark of the destination `home-assistant` with a real server, compared with a script that sends the same
/// statistics to the same server under other names.
struct HomeAssistantDelivery {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  /// A script that creates the owner of a newly started Home Assistant and prints an access token.
  private static let owner = """
    import json, sys, time, urllib.parse, urllib.request
    def ask(path, body=None, kind="application/json"):
      request = urllib.request.Request(sys.argv[1] + path, body, {"Content-Type": kind})
      for attempt in range(600):
        try:
          with urllib.request.urlopen(request) as answer: return json.load(answer)
        except (OSError, ValueError):
          time.sleep(0.1)
      sys.exit("Home Assistant does not answer.")
    ask("/api/onboarding")
    client = sys.argv[1] + "/"
    owner = {"client_id": client, "name": "Owner", "username": "owner", "password": "secret", "language": "en"}
    code = ask("/api/onboarding/users", json.dumps(owner).encode())["auth_code"]
    form = urllib.parse.urlencode({"grant_type": "authorization_code", "code": code, "client_id": client})
    print(ask("/auth/token", form.encode(), "application/x-www-form-urlencoded")["access_token"])
    """
  private static let byHand = """
    import aiohttp, asyncio, datetime, itertools, json, sys, time
    async def main(url, token):
      async with aiohttp.ClientSession() as session, session.ws_connect(url + "/api/websocket", max_msg_size=0) as socket:
        await socket.receive_json()
        await socket.send_json({"type": "auth", "access_token": token})
        await socket.receive_json()
        numbers = itertools.count(1)
        async def call(kind, **members):
          number = next(numbers)
          await socket.send_json(dict(members, id=number, type=kind))
          while (answer := await socket.receive_json()).get("id") != number or answer["type"] != "result": pass
          if not answer["success"]: sys.exit(json.dumps(answer))
          return answer["result"]
        async def read(name):
          rows = await call("recorder/statistics_during_period", start_time="2000-01-01T00:00:00Z",
                            statistic_ids=[name], period="hour", types=["state", "sum", "mean", "min", "max"])
          return rows.get(name, [])
        series = []
        for one in await call("recorder/list_statistic_ids"):
          if one["source"] != "hpeer": continue
          metadata = {key: one[key] for key in ("name", "has_sum", "has_mean")}
          metadata |= {"source": "other", "statistic_id": one["statistic_id"].replace("hpeer:", "other:"),
                       "unit_of_measurement": one["statistics_unit_of_measurement"]}
          rows = await read(one["statistic_id"])
          for row in rows:
            row["start"] = datetime.datetime.fromtimestamp(row["start"] / 1000, datetime.timezone.utc).isoformat()
            del row["end"]
          series.append((metadata, rows))
        started = time.monotonic()
        for metadata, rows in series:
          for first in range(0, len(rows), 1000):
            await call("recorder/import_statistics", metadata=metadata, stats=rows[first:first + 1000])
          while len(await read(metadata["statistic_id"])) < len(rows): await asyncio.sleep(0.01)
        print(time.monotonic() - started, sum(len(json.dumps(rows)) for _, rows in series))
    asyncio.run(main(sys.argv[1], sys.stdin.read().strip()))
    """

  func measure() async throws -> Row {
    guard !bench.sizes.isQuick else {
      return Row(.homeAssistant, skipped: "Home Assistant takes longer to start than all the rest of a quick run")
    }
    let environment = await onThread { _ in PythonEnvironment("home-assistant") }
    guard let path = environment.program("python"), let hass = environment.program("hass") else {
      return Row(.homeAssistant, skipped: environment.missing)
    }
    let python = try Program(path: path)
    var comparison = DeliveryComparison()
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let (folder, key) = (bench.workspace.fresh("home-assistant"), bench.workspace.fresh("key"))
      let (service, port) = try start(try Program(path: hass), folder)
      let url = "http://127.0.0.1:\(port)"
      let token = try await python.run(["-c", Self.owner, url], home: nil, in: bench.workspace).output
      try PrivateFile.create(key, Array(token.utf8))
      let delivery = try await TimedDelivery(
        bench, ["kind = \"home-assistant\"", "url = \"\(url)\"", "token = \"file:\(key)\""])
      let said = try await python.run(["-c", Self.byHand, url], home: nil, input: token, in: bench.workspace)
      try await service.stop(SIGKILL)
      let floor = try DeliveryComparison.floor(said.output, of: "What was done by hand")
      guard floor.bytes > 2 else { throw BenchFailure("What was done by hand said \(said.output)") }
      if round >= bench.sizes.warmUps { comparison.add(delivery, floor: floor) }
      for path in [folder, key, delivery.home] { bench.workspace.remove(path) }
    }
    return comparison.row(.homeAssistant, byHand: "by hand")
  }

  private func start(_ hass: Program, _ folder: String) throws -> (service: Service, port: Int) {
    let port = try TCPSocket.freePort()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let settings = """
      http:
        server_host: 127.0.0.1
        server_port: \(port)
      api:
      auth:
      config:
      sensor:
      history:
      recorder:

      """
    try Data(settings.utf8).write(to: URL(fileURLWithPath: "\(folder)/configuration.yaml"))
    return (try Service(hass, ["--skip-pip", "-c", folder], home: nil, in: bench.workspace), port)
  }
}
