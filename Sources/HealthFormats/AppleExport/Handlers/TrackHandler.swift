import HealthModel

/// The handler of GPX files that no workout names. They become routes of their own. Tracks without any time get the
/// date of the export.
enum TrackHandler {
  /// Reads all GPX files that have not been read yet.
  ///
  /// - Parameter progress: called before each file; may throw to stop.
  static func read(
    _ progress: () throws -> Void, _ parts: inout RouteParts, _ context: inout ReadingContext
  ) throws {
    let members = context.sideFiles.unread(in: "workout-routes", ending: ".gpx")
    guard context.report.isComplete else {
      // The workouts of the files may be in the missing part.
      if !members.isEmpty {
        context.remark("GPX files that the part of the XML that is there does not name", .nowhere)
      }
      return
    }
    // Read the files twice instead of keeping them in memory: the first time for their keys.
    var keys = SharedKeys<String>()
    for member in members {
      try progress()
      if let track = track(in: member, &context) { keys.add(key(sample(of: track, context.report.exportDate))) }
    }
    for member in members where !keys.isEmpty {
      try progress()
      guard let source = try? context.sideFiles.source(of: member, limit: GPXReader.maximumBytes),
        let track = try? GPXReader(source: source).run()
      else { continue }
      context.remark(track.problems, in: member)
      if track.points.isEmpty {
        context.remark("\(member.name): it has no points", .nowhere)
        continue
      }
      context.remark("GPX file that no workout names", .nowhere)
      context.report.elements["WorkoutRoute", default: 0] += 1
      var sample = sample(of: track, context.report.exportDate)
      if let name = track.name { sample.metadata = ["hpeer.gpx.name": .string(name)] }
      let route = WorkoutRoute(path: "/\(member.name)", points: track.points)
      try parts.add(route, of: sample, as: .track, isShared: keys.isShared(key(sample)), &context)
      try context.delivery.sendIfDue()
    }
  }

  /// Returns the track in a file. Returns `nil`, and adds a remark, if the file cannot be read.
  ///
  /// - Parameter start: the instant that the times of the points are relative to; `nil` for the time of the first
  ///   point.
  static func track(
    in member: ExportMember, start: Timestamp? = nil, _ context: inout ReadingContext
  ) -> GPXReader.Track? {
    do {
      let source = try context.sideFiles.source(of: member, limit: GPXReader.maximumBytes)
      return try GPXReader(source: source, start: start).run()
    } catch {
      context.remark("\(member.name): \(SideFiles.reason(error))", .nowhere)
      return nil
    }
  }

  private static func key(_ sample: Sample) -> String {
    "\(sample.source.name)\u{1F}\(sample.start)\u{1F}\(sample.end)"
  }

  private static func sample(of track: GPXReader.Track, _ exportDate: Timestamp?) -> Sample {
    let start = track.start ?? exportDate ?? Timestamp(seconds: 0)
    return Sample(
      uuid: .undecided, type: .workoutRoute, start: start, end: track.end ?? start,
      source: Source(name: track.creator ?? ""), payload: .workoutRoute(WorkoutRoute()))
  }
}
