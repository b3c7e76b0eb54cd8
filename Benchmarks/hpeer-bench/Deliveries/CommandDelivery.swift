import Foundation

/// A benchmark of the destination `command` with a program that stores its input.
struct CommandDelivery {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    var comparison = DeliveryComparison()
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let (kept, copy) = (bench.workspace.fresh("kept"), bench.workspace.fresh("copy"))
      let delivery = try await TimedDelivery(
        bench,
        [
          "kind = \"command\"", "command = [\"/bin/sh\", \"-c\", \"cat >> \(kept)\"]", "batch = 10000",
        ])
      let byHand = try await Program(path: "/bin/sh").run(
        ["-c", "cat \(kept) > \(copy)"], home: nil, in: bench.workspace)
      let bytes = try FileManager.default.attributesOfItem(atPath: kept)[.size] as? Int ?? 0
      if round >= bench.sizes.warmUps { comparison.add(delivery, floor: (byHand.seconds, bytes)) }
      for path in [kept, copy, delivery.home] { bench.workspace.remove(path) }
    }
    return comparison.row(.command, byHand: "cat")
  }
}
