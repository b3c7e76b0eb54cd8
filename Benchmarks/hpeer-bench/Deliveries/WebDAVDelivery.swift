import Foundation

/// A benchmark of the destination `webdav` with rclone's server, compared with curl.
struct WebDAVDelivery {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    guard let rclone = OtherProgram.find("rclone"), let curl = OtherProgram.find("curl") else {
      return Row(.webdav, skipped: "rclone and curl are not both installed")
    }
    var comparison = DeliveryComparison()
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let (place, copy) = (bench.workspace.fresh("place"), bench.workspace.fresh("copy"))
      let (first, port) = try await serve(rclone, place)
      // What curl does is not protected either.
      let delivery = try await TimedDelivery(
        bench, ["kind = \"webdav\"", "url = \"http://127.0.0.1:\(port)/\"", "only-writer = true"])
      try await first.stop(SIGKILL)
      let (second, other) = try await serve(rclone, copy)
      let files = try DeliveredFiles.all(in: place)
      let byHand = try await Program(path: curl).run(
        ["--config", "-"], home: nil, input: requests(files, place, "http://127.0.0.1:\(other)/"), in: bench.workspace)
      try await second.stop(SIGKILL)
      let bytes = try files.reduce(0) { sum, name in
        sum + (try FileManager.default.attributesOfItem(atPath: "\(place)/\(name)")[.size] as? Int ?? 0)
      }
      guard try DeliveredFiles.all(in: copy) == files else { throw BenchFailure("curl has not written all files.") }
      if round >= bench.sizes.warmUps { comparison.add(delivery, floor: (byHand.seconds, bytes)) }
      for path in [place, copy, delivery.home] { bench.workspace.remove(path) }
    }
    return comparison.row(.webdav, byHand: "curl")
  }

  private func serve(_ rclone: String, _ folder: String) async throws -> (service: Service, port: Int) {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    return try await OtherProgram.start(
      rclone, ["serve", "webdav", folder, "--addr", "127.0.0.1:0", "--config", "/dev/null"],
      #/http://127\.0\.0\.1:(\d+)/#, bench)
  }

  /// Returns a configuration for curl(1) that creates the collections and then the files.
  private func requests(_ files: [String], _ place: String, _ url: String) -> String {
    var (collections, requests): (Set<String>, [String]) = ([], [])
    for file in files {
      let parts = file.split(separator: "/").dropLast()
      for count in parts.indices {
        let collection = parts[...count].joined(separator: "/")
        guard collections.insert(collection).inserted else { continue }
        requests.append("url = \"\(url)\(collection)/\"\nrequest = \"MKCOL\"\noutput = \"/dev/null\"\nsilent\n")
      }
      requests.append(
        "url = \"\(url)\(file)\"\nupload-file = \"\(place)/\(file)\"\noutput = \"/dev/null\"\nsilent\n")
    }
    return requests.joined(separator: "next\n")
  }
}
