import Foundation
import HealthModel
import OperatingSystem
import Testing

@testable import Destinations

/// A simulated recorder with behaviour that the real one shows only on a busy machine or when its process is killed.
/// It runs in the environment of Home Assistant, whose web server it uses.
struct RecorderStandIn {
  struct Options: Encodable, Sendable {
    /// The error code with which it refuses to clear statistics, `refusals` times.
    var code = "timeout"
    var refusals = 0
    /// Whether the start of an hour is text, as in earlier versions of Home Assistant.
    var isText = false
    /// Whether there is a row even for hours that were not sent.
    var isFull = false
    /// The number of an import, counted from 1, that it accepts but never writes. The third request for hours
    /// afterwards ends the connection.
    var lost = 0
    /// The number of an import that is handled as with `lost`, except that this import and later imports are written
    /// when statistics are cleared.
    var held = 0
  }

  private static let program = """
    import asyncio, json, sys
    from datetime import datetime, timezone
    from aiohttp import web
    options = json.loads(sys.argv[1])
    kept, waiting, imports, questions = {}, [], 0, 0
    def seconds(text):
        return int(datetime.fromisoformat(text).timestamp())
    def start(second):
        return datetime.fromtimestamp(second, timezone.utc).isoformat() if options["isText"] else second * 1000
    def hours(command):
        name = command["statistic_ids"][0]
        found = kept.get(name, {})
        other = dict.fromkeys(command["types"], 1.5) if options["isFull"] else None
        rows = [
            {name: row.get(name) for name in command["types"]} | {"start": start(second), "end": start(second + 3600)}
            for second in range(seconds(command["start_time"]), seconds(command["end_time"]), 3600)
            if (row := found.get(second, other))]
        return {name: rows} if rows else {}
    def write():
        for command in waiting:
            rows = {seconds(row["start"]): row for row in command["stats"]}
            kept.setdefault(command["metadata"]["statistic_id"], {}).update(rows)
        waiting.clear()
    def result(command):
        global imports, questions
        match command["type"]:
            case "recorder/clear_statistics":
                write()
                for name in command["statistic_ids"]: kept.pop(name, None)
            case "recorder/import_statistics":
                imports, questions = imports + 1, 0
                if imports != options["lost"]: waiting.append(command)
                if not options["held"] or imports < options["held"]: write()
            case "lose":
                for rows in kept.values():
                    for second in [second for second in rows if second >= command["from"]]: del rows[second]
            case "rows":
                return sum(len(rows) for rows in kept.values())
            case "imported":
                return imports
            case "waiting":
                return len(waiting)
            case "recorder/statistics_during_period":
                questions += 1
                return hours(command)
    async def answer(request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "auth_required"})
        await socket.receive_json()
        await socket.send_json({"type": "auth_ok"})
        async for message in socket:
            command = message.json()
            if command["type"] == "recorder/clear_statistics" and options["refusals"] > 0:
                options["refusals"] -= 1
                error = {"code": options["code"], "message": "no time"}
                await socket.send_json({"id": command["id"], "type": "result", "success": False, "error": error})
                continue
            found = result(command)
            isThird = command["type"] == "recorder/statistics_during_period" and questions == 3
            if isThird and imports in (options["lost"], options["held"]):
                await socket.close()
                break
            await socket.send_json({"id": command["id"], "type": "result", "success": True, "result": found})
        return socket
    async def main():
        application = web.Application()
        application.router.add_get("/api/websocket", answer)
        runner = web.AppRunner(application)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        print("port", runner.addresses[0][1], flush=True)
        await asyncio.Event().wait()
    asyncio.run(main())
    """

  private let server: ServerProcess

  init(_ options: Options) async throws {
    guard let python = HomeAssistantServer.environment.program("python") else {
      throw ServerProcess.Failure(description: HomeAssistantServer.environment.missing)
    }
    let text = try CanonicalJSON.encode(options)
    server = try await onThread { _ in try ServerProcess(python, ["-c", Self.program, text], until: "port ") }
  }

  private var url: String { "http://127.0.0.1:\(server.port)" }

  /// Returns a destination that stores the history of `me` in this recorder.
  func destination(of fixture: RecordFixture) throws -> HomeAssistantDestination {
    try HomeAssistantDestination(
      DestinationSettings(
        ["url": .text(url), "token": .text("env:TOKEN"), "states": .boolean(false)],
        of: HomeAssistantDestination.self), in: fixture.environment(["TOKEN": "token"]))
  }

  /// Returns a value of each hour of a statistic that starts in a range of time, in order.
  func numbers(_ name: String, of id: String, in range: Range<Timestamp>) async throws -> [JSONValue] {
    let question: [String: JSONValue] = [
      "start_time": .string(range.lowerBound.iso8601), "end_time": .string(range.upperBound.iso8601),
      "statistic_ids": .array([.string(id)]), "types": .array([.string(name)]),
    ]
    let answer = try await ask("recorder/statistics_during_period", question)
    guard case .object(let series) = answer, case .array(let rows)? = series[id] else { return [] }
    return rows.compactMap { row in
      guard case .object(let members) = row else { return nil }
      return members[name]
    }
  }

  /// Returns the number of imports that were accepted but not written.
  func waiting() async throws -> JSONValue { try await ask("waiting") }

  /// Deletes all hours from a time on, as if an older copy of the database had been restored.
  func lose(from start: Timestamp) async throws { _ = try await ask("lose", ["from": .integer(start.seconds)]) }

  /// Returns the number of imports that were accepted.
  func imported() async throws -> JSONValue { try await ask("imported") }

  /// Returns the number of hours of all statistics.
  func rows() async throws -> JSONValue { try await ask("rows") }

  private func ask(_ type: String, _ members: [String: JSONValue] = [:]) async throws -> JSONValue {
    try await HomeAssistantSocket.with(try #require(URL(string: url)), token: "token", authority: nil) {
      try await $0.call(type, members)
    }
  }
}
