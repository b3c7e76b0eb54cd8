import Foundation
import TestSupport

/// A benchmark of the destination `mqtt`, which sends the current values of the record, compared with mosquitto_pub,
/// which sends a line for each sample.
struct MQTTDelivery {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    let broker = OtherProgram.find("mosquitto") ?? OtherProgram.found("/usr/sbin/mosquitto")
    guard let broker, let publisher = OtherProgram.find("mosquitto_pub") else {
      return Row(.mqtt, skipped: "mosquitto and mosquitto_pub are not both installed")
    }
    var comparison = DeliveryComparison()
    let lines = (0..<TimedDelivery.count(bench)).map { "{\"uuid\":\"\($0)\",\"unit\":\"steps\",\"value\":8432}\n" }
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let free = try TCPSocket.freePort()
      let settings = bench.workspace.fresh("broker")
      try Data("user root\nlistener \(free) 127.0.0.1\nallow_anonymous true\nlog_dest stderr\n".utf8)
        .write(to: URL(fileURLWithPath: settings))
      let (service, port) = try await OtherProgram.start(
        broker, ["-c", settings], #/listen socket on port (\d+)\./#, bench)
      let delivery = try await TimedDelivery(bench, ["kind = \"mqtt\"", "url = \"mqtt://127.0.0.1:\(port)\""])
      let byHand = try await Program(path: publisher).run(
        ["-h", "127.0.0.1", "-p", String(port), "-q", "1", "-t", "bench", "-l"], home: nil, input: lines.joined(),
        in: bench.workspace)
      try await service.stop(SIGKILL)
      if round >= bench.sizes.warmUps {
        comparison.add(delivery, floor: (byHand.seconds, lines.reduce(0) { $0 + $1.utf8.count }))
      }
      for path in [settings, delivery.home] { bench.workspace.remove(path) }
    }
    return comparison.row(.mqtt, byHand: "mosquitto_pub -l")
  }
}
