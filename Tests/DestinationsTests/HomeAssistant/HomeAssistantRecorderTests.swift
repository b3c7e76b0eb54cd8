import Foundation
import OperatingSystem
import TestSupport
import Testing

@testable import Destinations

/// A recorder that has not the time that Home Assistant gives it, which the real one has when its machine is busy.
@Suite(
  "Home Assistant's recorder",
  .enabled(if: HomeAssistantServer.isInstalled, Comment(rawValue: HomeAssistantServer.environment.missing)),
  .timeLimit(.minutes(5)))
struct HomeAssistantRecorderTests {
  private let fixture: RecordFixture

  init() throws { fixture = try RecordFixture() }

  /// Refuses to clear statistics with a code, as often as it is told, and takes everything else.
  private static let program = """
    import asyncio, sys
    from aiohttp import web
    code, refusals = sys.argv[1], int(sys.argv[2])
    async def answer(request):
        global refusals
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "auth_required"})
        await socket.receive_json()
        await socket.send_json({"type": "auth_ok"})
        async for message in socket:
            command = message.json()
            result = {"id": command["id"], "type": "result", "success": True, "result": None}
            if command["type"] == "recorder/clear_statistics" and refusals > 0:
                refusals -= 1
                result["success"], result["error"] = False, {"code": code, "message": "no time"}
            await socket.send_json(result)
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

  /// What a check says of a server that refuses so often.
  private func check(_ code: String, times: Int) async throws -> DeliveryError? {
    let python = try #require(HomeAssistantServer.environment.program("python"))
    let server = try await onThread { _ in
      try ServerProcess(python, ["-c", Self.program, code, String(times)], until: "port ")
    }
    let place = try HomeAssistantDestination(
      DestinationSettings(
        ["url": .text("http://127.0.0.1:\(server.port)"), "token": .text("env:TOKEN"), "states": .boolean(false)],
        of: HomeAssistantDestination.self), in: fixture.environment(["TOKEN": "token"]))
    var found: DeliveryError?
    do { try await place.check() } catch let error as DeliveryError { found = error }
    await place.close()
    return found
  }

  @Test("a recorder that has not come to it in time is waited for, though not for ever; another refusal counts at once")
  func clearing() async throws {
    #expect(try await check("timeout", times: 2) == nil)
    let late = DeliveryError.temporary(reason: "127.0.0.1 could not keep history (no time)")
    #expect(try await check("timeout", times: 1_000) == late)
    #expect(try await check("unknown_error", times: 1) == late)
  }
}
