# Jobs of Sidekiq: ruby shop.rb HOST PORT PASSWORD, which starts the worker on this file, too.
require "sidekiq"
require "sidekiq/api"

HOST, PORT, PASSWORD = ENV["WORKER"]&.split("\n") || ARGV
Sidekiq.configure_server do |config|
  config.redis = { host: HOST, port: PORT.to_i, password: PASSWORD }
  config.options[:poll_interval_average] = 0.1
end
Sidekiq.configure_client { |config| config.redis = { host: HOST, port: PORT.to_i, password: PASSWORD } }

class Mail
  include Sidekiq::Worker
  sidekiq_options retry: 3

  def perform(to)
    Sidekiq.redis { |redis| redis.rpush("sent", to) }
  end
end

class Flaky
  include Sidekiq::Worker
  sidekiq_options queue: "critical", retry: 3

  def perform(name)
    tries = Sidekiq.redis { |redis| redis.incr("tries") }
    raise "try #{tries} failed" if tries < 2

    Sidekiq.redis { |redis| redis.rpush("sent", name) }
  end
end

class Patient
  include Sidekiq::Worker

  def perform
    Sidekiq.redis do |redis|
      redis.rpush("sent", "begun")
      redis.rpush("sent", redis.blpop("go", timeout: 60).last)
    end
  end
end

return if ENV["WORKER"]

def check(what, want, got)
  raise "#{what}: #{got.inspect}, not #{want.inspect}" unless want == got
end

def deadline
  raise "nothing happened for a minute" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > $began + 60
end
$began = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def wait
  until yield
    deadline
    sleep 0.01
  end
end

# next_sent waits for what a worker sends.
def next_sent
  (Sidekiq.redis { |redis| redis.blpop("sent", timeout: 60) } || raise("nothing was sent within a minute")).last
end

default = Sidekiq::Queue.new
20.times { |i| Mail.perform_async("cat #{i}") }
Mail.perform_bulk((20...40).map { |i| ["cat #{i}"] })
check "the queue's size", 40, default.size
Mail.perform_in(0.2, "later")
never = Mail.perform_in(3600, "never")
check "what is scheduled", 2, Sidekiq::ScheduledSet.new.size
check "the first job", ["cat 0"], default.to_a.last.args

worker = spawn({ "WORKER" => ARGV.join("\n") }, "sidekiq", "-r", File.expand_path(__FILE__), "-c", "3", "-t", "60", "-q", "critical", "-q", "default", out: File::NULL)
begin
  sent = Array.new(41) { next_sent }
  check "what was sent", (0...40).map { |i| "cat #{i}" }.push("later").sort, sent.sort
  check "the last one", 1, sent.count("later")

  # One that fails waits for its time; somebody has it tried at once.
  Flaky.perform_async("flaky")
  wait { Sidekiq::RetrySet.new.size == 1 }
  retried = Sidekiq::RetrySet.new.first
  check "the error", "try 1 failed", retried["error_message"]
  retried.retry
  check "what was tried again", "flaky", next_sent
  Sidekiq::ScheduledSet.new.find_job(never).delete
  check "what is scheduled", 0, Sidekiq::ScheduledSet.new.size
  wait { Sidekiq::Stats.new.processed == 43 }
  check "failed", 1, Sidekiq::Stats.new.failed
  check "processes", 1, Sidekiq::ProcessSet.new.size

  # A worker that is told to end finishes what it has begun, and begins no more.
  Patient.perform_async
  check "what was begun", "begun", next_sent
ensure
  Process.kill("TERM", worker)
end
wait { Sidekiq::ProcessSet.new.first.stopping? }
Mail.perform_async("too late")
Sidekiq.redis { |redis| redis.rpush("go", "gone") }
check "what was finished", "gone", next_sent
Process.wait(worker)
check "how the worker ended", true, $?.success?
check "what is left", ["Mail"], default.map(&:klass)
check "processes", 0, Sidekiq::ProcessSet.new.size
