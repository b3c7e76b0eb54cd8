import HealthModel

/// GPX files that no workout has named become routes of their own. Those without any time are dated at the export.
enum TrackHandler {
  /// - Parameter progress: called before each file; may throw to stop.
  static func read(
    _ progress: () throws -> Void, _ parts: inout RouteParts, _ context: inout ReadingContext
  ) throws {
    let members = context.sideFiles.unread(in: "workout-routes", ending: ".gpx")
    guard context.report.isComplete else {
      // Their workouts may be in the part that is missing.
      if !members.isEmpty {
        context.remark("GPX files that the part of the XML that is there does not name", .nowhere)
      }
      return
    }
    // Files are read twice rather than kept in memory: the first time for their keys.
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

  /// The track in a file; `nil`, and remarked, for one that cannot be read.
  ///
  /// - Parameter start: what the times of its points are reckoned from; `nil` for the first of them.
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
