package io.ebbfs.manager;

import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.JobKey;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs tasks again and again by Quartz; a task never runs twice at a time. Thread-safe. */
final class Schedules implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Schedules.class);
  private static final String TASKS = "tasks";

  /** What is run; an exception is logged and the next run comes all the same. */
  interface Task {
    void run() throws Exception;
  }

  private final Scheduler scheduler;
  private final Map<String, Task> tasks = new HashMap<>();

  Schedules() throws SchedulerException {
    Properties properties = new Properties();
    properties.put("org.quartz.scheduler.instanceName", "ebbfs-" + UUID.randomUUID());
    properties.put("org.quartz.scheduler.skipUpdateCheck", "true");
    properties.put("org.quartz.scheduler.makeSchedulerThreadDaemon", "true");
    properties.put("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
    properties.put("org.quartz.threadPool.threadCount", "3");
    properties.put("org.quartz.threadPool.makeThreadsDaemons", "true");
    properties.put("org.quartz.jobStore.class", "org.quartz.simpl.RAMJobStore");
    scheduler = new StdSchedulerFactory(properties).getScheduler();
    scheduler.getContext().put(TASKS, tasks);
  }

  /** The first run comes after the delay. To be called before {@link #start}. */
  void every(String name, long delayMillis, long millis, Task task) throws SchedulerException {
    tasks.put(name, task);
    scheduler.scheduleJob(
        JobBuilder.newJob(TaskJob.class).withIdentity(name).build(),
        TriggerBuilder.newTrigger()
            .withIdentity(name)
            .startAt(new Date(System.currentTimeMillis() + delayMillis))
            .withSchedule(
                SimpleScheduleBuilder.simpleSchedule()
                    .withIntervalInMilliseconds(millis)
                    .repeatForever()
                    .withMisfireHandlingInstructionNextWithRemainingCount())
            .build());
  }

  void start() throws SchedulerException {
    scheduler.start();
  }

  /** Runs a task soon, out of its turn. */
  void trigger(String name) throws SchedulerException {
    scheduler.triggerJob(JobKey.jobKey(name));
  }

  @Override
  public void close() {
    try {
      scheduler.shutdown(true);
    } catch (SchedulerException e) {
      LOG.warn("The schedules did not stop in order: {}", e.getMessage());
    }
  }

  /** The one kind of Quartz job: it finds its task by its name. */
  @DisallowConcurrentExecution
  public static final class TaskJob implements Job {
    @Override
    public void execute(JobExecutionContext context) {
      String name = context.getJobDetail().getKey().getName();
      try {
        Map<?, ?> tasks = (Map<?, ?>) context.getScheduler().getContext().get(TASKS);
        ((Task) tasks.get(name)).run();
      } catch (io.ebbfs.manager.cluster.NamenodeException e) {
        LOG.debug("Task {}: {}", name, e.getMessage());
      } catch (Exception e) {
        LOG.error("Task {} failed and will run again in its turn", name, e);
      }
    }
  }
}
