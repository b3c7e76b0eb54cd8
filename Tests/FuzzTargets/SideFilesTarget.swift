import Foundation
import HealthModel

@testable import HealthFormats

/// Fuzz targets for the files beside an export's XML, and for the times of heartbeats.
extension FuzzTarget {
  /// Fuzzes the GPX reader. The first byte determines the chunk size and whether a root element is added.
  @Sendable static func gpx(_ input: [UInt8]) {
    guard let seed = input.first else { return }
    let body = Array(input.dropFirst())
    let file = seed & 1 == 1 ? Array("<gpx><trk><trkseg>".utf8) + body + Array("</gpx>".utf8) : body
    let whole = track(file, chunkSize: 1 << 16)
    let divided = track(file, chunkSize: 1 + Int(seed >> 1) % 61)
    require(whole?.points == divided?.points, "the same points in other chunks: \(text(file))")
    require(whole?.problems == divided?.problems, "and the same problems: \(text(file))")
    require(whole?.name == divided?.name && whole?.creator == divided?.creator, "and the same header: \(text(file))")
    guard let track = whole else { return }
    for point in track.points {
      require(abs(point.latitude) <= 90 && abs(point.longitude) <= 180, "a place on Earth: \(point)")
    }
    let route = WorkoutRoute(points: track.points)
    requireRoundTrip(route)
    requireCoded(.workoutRoute(route))
  }

  @Sendable static func electrocardiogramFile(_ input: [UInt8]) {
    do {
      let recording = try ElectrocardiogramReader.read(MemorySource(input))
      let header = try ElectrocardiogramReader.read(MemorySource(input), headerOnly: true)
      require(header.recorded == recording.recorded, "the header says the same: \(text(input))")
      require(header.device == recording.device, "and names the same device: \(text(input))")
      require(!recording.electrocardiogram.voltages.isEmpty, "no electrocardiogram without voltages")
      requireRoundTrip(recording.electrocardiogram)
      if recording.unreadable.count == 0 { requireCoded(.electrocardiogram(recording.electrocardiogram)) }
    } catch {
      require(error is SideFiles.Failure || error is ImportError, "a documented error: \(error)")
      require(!SideFiles.reason(error).isEmpty, "a reason for every error")
    }
  }

  /// Fuzzes the times of heartbeats. The first byte determines the start of the record within a day, the second byte
  /// the most likely offset.
  @Sendable static func beats(_ input: [UInt8]) {
    guard input.count > 2 else { return }
    let start = Timestamp(seconds: 1_718_438_400 + Int64(input[0]) * 337)
    let beats = text(input.dropFirst(2))
    let nearest = (Int(input[1]) - 128) * 450
    _ = WallClock(beats)?.position
    guard let clock = BeatClock(beats, start: start, end: Timestamp(seconds: start.seconds + 60), nearest: nearest)
    else { return }
    require((-12 * 3600...14 * 3600).contains(clock.offset), "an offset of the Earth: \(clock)")
    require(clock.offset % 900 == 0, "in quarters of an hour: \(clock)")
    require(beats.contains(clock.format), "the format is one that was printed: \(clock)")
    // By bytes: to characters the Greek question mark is a semicolon, too.
    let separate = { (text: String) in
      text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { Substring($0) }
    }
    let aligned = separate(clock.beats)
    require(aligned.count == separate(beats).count, "all beats: \(clock)")
    // What was aligned, printed with the offset on a clock of 24 hours, is aligned again to the same.
    let printed = aligned.map { beat -> String in
      let parts = beat.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      let microseconds = Int64((Double(parts.last ?? "") ?? 0) * 1_000_000 + (parts.last?.first == "-" ? -0.5 : 0.5))
      let shown = Timestamp(microseconds: start.microseconds + microseconds + Int64(clock.offset) * 1_000_000).civil
      return "\(parts[0])@"
        + String(format: "%02d:%02d:%02d.%06d", shown.hour, shown.minute, shown.second, shown.microsecond)
    }
    let again = BeatClock(
      printed.joined(separator: ";"), start: start, end: Timestamp(seconds: start.seconds + 60), nearest: clock.offset)
    require(
      again?.beats == clock.beats && again?.offset == clock.offset,
      "\(clock) as \(printed) is \(String(describing: again))")
  }

  private static func track(_ file: [UInt8], chunkSize: Int) -> GPXReader.Track? {
    do {
      return try GPXReader(source: MemorySource(file), chunkSize: chunkSize).run()
    } catch {
      require(error is SideFiles.Failure || error is ImportError, "a documented error: \(error)")
      require(!SideFiles.reason(error).isEmpty, "a reason for every error")
      return nil
    }
  }

  /// Requires that the hand-written coding of a payload can be decoded without loss.
  private static func requireCoded(_ payload: Payload) {
    do {
      let coded = try CodedPayload(payload)
      let again = try Payload(kind: payload.kind, number: coded.number, unit: coded.unit, json: coded.json)
      require(again == payload, "\(payload) as \(coded.json ?? "") is \(again)")
    } catch {
      fatalError("broken promise: what was read can be coded: \(error)")
    }
  }
}
